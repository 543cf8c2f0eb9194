"""What the server says of itself in whole: discovery in one document, and OpenAPI."""

from typing import Final

import msgspec

from baseload.embedded.api import discovery, openapi, swagger
from baseload.embedded.api.answer import TEXT, Answer, json
from baseload.embedded.api.call import Call
from baseload.embedded.api.kinds import Kinds
from baseload.embedded.api.negotiate import PLAIN, Form, form
from baseload.embedded.api.openapi import Documents
from baseload.embedded.api.refusals import NotAcceptable, no_such_method, no_such_path
from baseload.embedded.api.tagged import Tagged

_DISCOVERY: Final = (
    Form("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2"),
    Form("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2beta1"),
    PLAIN,
)
_FOR_GOOD: Final = "public, immutable"


class Published:
    """The documents about the kinds that are served, each made once for as long as those stay."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._documents = Documents(kinds)
        self._discovery: dict[tuple[str, str], Tagged] = {}
        self._generation = -1

    def discovered(self, root: str, call: Call) -> Answer:
        """GET /api or /apis."""
        wanted = form(call.headers, _DISCOVERY)
        if wanted.kind:
            told = self._aggregated(root, wanted.version)
            return told.answer(call.headers, media_type=wanted.media_type, cache="public")
        if root == "api" and call.method not in ("GET", "HEAD"):
            raise no_such_method()
        if root == "api":
            return json(discovery.core_versions(call.headers.get("host", "")))
        return json(discovery.groups(self._kinds))

    def _aggregated(self, root: str, version: str) -> Tagged:
        if self._generation != self._kinds.generation:
            self._discovery, self._generation = {}, self._kinds.generation
        known = self._discovery.get((root, version))
        if known is None:
            tree = discovery.aggregated(self._kinds, version, core=root == "api")
            known = self._discovery[root, version] = Tagged(msgspec.json.encode(tree))
        return known

    def described(self, rest: list[str], call: Call) -> Answer:
        """GET below /openapi."""
        match rest:
            case ["v3"]:
                return json(self._documents.index())
            case ["v3", *steps]:
                path = "/".join(steps)
                document = self._documents.document(path)
                return Answer(404, b"", TEXT) if document is None else _version_3(document, path, call)
            case ["v2"]:
                return self._version_2(call)
        raise no_such_path()

    def _version_2(self, call: Call) -> Answer:
        accept = call.headers.get("accept", "") or "*/*"
        if swagger.PROTOBUF in accept:
            return Answer(200, swagger.in_protobuf(), swagger.PROTOBUF_TYPE)
        if not any(name in accept for name in ("application/json", "application/*", "*/*")):
            raise NotAcceptable("only the following media types are accepted: application/json")
        return self._documents.version_2().answer(call.headers)


def _version_3(document: Tagged, path: str, call: Call) -> Answer:
    """A document of v3; with its tag in the query it may be kept for good, with another one it lies elsewhere."""
    asked = call.query.get("hash", "")
    if asked and asked != document.tag:
        return Answer(301, b"", headers={"location": openapi.url(path, document.tag)})
    return document.answer(call.headers, cache=_FOR_GOOD if asked else "no-cache, private")
