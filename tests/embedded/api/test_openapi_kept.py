"""schemathesis draws requests from the served OpenAPI documents: none breaks the server, all are answered as told."""

from collections.abc import Mapping
from typing import Any, Final

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.core.transport import Response
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.embedded.api.calling import Answered, Server, config_map, pod

CHECKS: Final = [content_type_conformance, response_schema_conformance, status_code_conformance, not_a_server_error]
NOT_HERE: Final = (501, 503, 504)
"""What is no part of a simulation, has no endpoints, or lies ahead: said in a Status, and no fault of the server's"""

FEW: Final = {
    "/openapi/v3/api/v1": ("configmaps", "pods/{name}/log", "pods/{name}/eviction", "{name}/finalize"),
    "/openapi/v3/apis/policy/v1": ("poddisruptionbudgets/{name}",),
    "/openapi/v3/apis/apps/v1": ("deployments/{name}/scale",),
}
"""Documents and parts of paths for the usual run: small kinds, and one of each subresource"""


def furnished() -> Server:
    server = Server()
    server.closing.is_set = True  # watches end at once
    for path, body in (("pods", pod("a")), ("configmaps", config_map("a"))):
        assert server.call("POST", f"/api/v1/namespaces/default/{path}", body).code == 201
    return server


def operations(document: Mapping[str, Any], *parts: str) -> list[Any]:
    """The operations on paths that hold one of the parts; all where there are none."""
    paths = {path: told for path, told in document["paths"].items() if not parts or any(part in path for part in parts)}
    schema = schemathesis.openapi.from_dict({**document, "paths": paths})
    return [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]


def asked(server: Server, case: Case[Any]) -> tuple[requests.PreparedRequest, Answered]:
    told = case.as_transport_kwargs(base_url="http://server")
    request = requests.Request(**{key: told[key] for key in told if key in _OF_REQUESTS}).prepare()
    body = request.body or b""
    sent = body.encode() if isinstance(body, str) else body
    headers = {name.lower(): str(value) for name, value in request.headers.items()}
    assert request.url is not None
    assert isinstance(sent, bytes)
    return request, server.call(case.method, request.url.removeprefix("http://server"), sent, headers)


_OF_REQUESTS: Final = ("method", "url", "headers", "params", "data", "json", "cookies", "files")


def hold(document: Mapping[str, Any], parts: tuple[str, ...], examples: int) -> int:
    """Draws requests of each operation, and holds the answers against what the document says; how many operations."""
    server = furnished()
    found = operations(document, *parts)
    for operation in found:
        for mode in _modes(operation):
            _hold(server, operation, mode, examples)
    return len(found)


def _modes(operation: Any) -> list[GenerationMode]:
    """Requests as they should be and, where one can be wrong, such as should not: any text will do in a path."""
    positive, negative = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
    return [positive, negative] if [*operation.query, *operation.body] else [positive]


def _hold(server: Server, operation: Any, mode: GenerationMode, examples: int) -> None:
    places = st.fixed_dictionaries({"namespace": st.sampled_from(["default", "absent"]), "name": st.just("a")})

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case=operation.as_strategy(generation_mode=mode), place=st.none() | places)
    def run(case: Case[Any], place: dict[str, str] | None) -> None:
        if place is not None:
            case.path_parameters.update({key: place[key] for key in case.path_parameters if key in place})
        request, answer = asked(server, case)
        headers = {name: [value] for name, value in answer.headers.items()}
        response = Response(answer.code, headers, answer.body, request, 0.0, verify=False)
        checks = [check for check in CHECKS if not (answer.code in NOT_HERE and check is not_a_server_error)]
        if answer.code == 200 and "watch" in (case.query or {}):
            checks = [status_code_conformance]  # events as lines are no single JSON value
        case.validate_response(response, checks=checks)
        if answer.code >= 400:
            assert (answer.tree["kind"], answer.tree["status"]) == ("Status", "Failure")
            assert answer.message

    run()


def test_answers_are_those_that_the_documents_tell() -> None:
    server = furnished()

    held = sum(hold(server.call("GET", path).tree, parts, 2) for path, parts in FEW.items())

    assert held >= 20


@pytest.mark.long
@pytest.mark.timeout(900)
def test_all_answers_are_those_that_the_documents_tell() -> None:
    server = furnished()
    index = server.call("GET", "/openapi/v3").tree["paths"]

    for found in index.values():
        assert hold(server.call("GET", found["serverRelativeURL"]).tree, (), 2) > 0


def test_the_elder_document_says_the_same_as_the_later_ones() -> None:
    server = Server()
    elder = server.call("GET", "/openapi/v2").tree
    later = server.call("GET", "/openapi/v3/apis/apps/v1").tree

    assert {operation.path for operation in operations(elder)} >= set(later["paths"])
    assert set(later["components"]["schemas"]) <= set(elder["definitions"])
    assert "#/components/" not in server.call("GET", "/openapi/v2").body.decode()
    put = elder["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["put"]
    assert put["parameters"][-1]["schema"] == {"$ref": "#/definitions/io.k8s.api.apps.v1.Deployment"}
    assert put["consumes"] == ["application/json", "application/yaml"]
