"""Acting as another: the Impersonate headers, and whether who sends them has the right to.

A server tries several ways, the narrow ones first, but for the one that worked before. The constrained ones ask for the
right to act so at all (`impersonate-on:WAY:VERB`, on what the request is about) and for the right to be that user
(`impersonate:WAY`); the old one asks for `impersonate` alone. Where no way works, the first refusal is the answer.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import unquote

from baseload.embedded.api.authorize.attributes import Attributes
from baseload.embedded.api.authorize.authorizer import Authorizer, forbidden
from baseload.embedded.api.identity import (
    ANONYMOUS,
    AUTHENTICATED,
    MASTERS,
    UNAUTHENTICATED,
    Identity,
    account_groups,
    account_of,
)
from baseload.embedded.store.errors import BadRequest, Forbidden
from baseload.kube.merge.go_text import quoted

Headers = Iterable[tuple[bytes, bytes]]
"""Names in small letters, with their values, each as often as it was sent"""

_USER: Final = "impersonate-user"
_UID: Final = "impersonate-uid"
_GROUP: Final = "impersonate-group"
_EXTRA: Final = "impersonate-extra-"
_NODE: Final = "system:node:"
_NODE_EXTRA: Final = "authentication.kubernetes.io/node-name"
_KEPT: Final = 1024  # users whose way is remembered
_AUTHENTICATION: Final = "authentication.k8s.io"


def wanted(headers: Headers) -> Identity | None:
    """Whom the headers name; None where they name nobody."""
    name, uid, groups = "", "", []
    extra: dict[str, list[str]] = {}
    for raw, value in headers:
        if not raw.startswith(b"impersonate-"):
            continue
        header, text = raw.decode("latin-1"), value.decode("utf-8", "replace")
        if header == _USER:
            name = name or text
        elif header == _UID:
            uid = uid or text
        elif header == _GROUP:
            groups.append(text)
        elif header.startswith(_EXTRA):
            extra.setdefault(unquote(header.removeprefix(_EXTRA)), []).append(text)
    if not (name or uid or groups or extra):
        return None
    identity = Identity(name, tuple(groups), uid, {key: tuple(values) for key, values in extra.items()})
    if not name:
        raise BadRequest(f"requested {_go(identity)} without impersonating a user name")
    return identity


class Impersonation:
    """Who may act as whom; the way that worked last is tried first, so that refusals are about that one."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer
        self._last: dict[str, _Way] = {}

    def acting(self, identity: Identity, other: Identity, asked: Attributes) -> Identity:
        """Whom a user becomes who acts as another; refuses who may not."""
        first: Forbidden | None = None
        for way in self._ways(identity):
            if not way.serves(identity, other):
                continue
            try:
                self._check(way, identity, other, asked)
            except Forbidden as error:
                first = first or error
            else:
                self._note(identity, way)
                return _complete(other, way)
        assert first is not None  # the old way serves everybody
        raise first

    def _check(self, way: "_Way", identity: Identity, other: Identity, asked: Attributes) -> None:
        for attributes in way.asked(other, asked):
            self._authorizer.check(identity, attributes)
        if not way.is_old:
            _check_sane(identity, other)

    def _ways(self, identity: Identity) -> Iterator["_Way"]:
        last = self._last.get(identity.name)
        if last is not None:
            yield last
        yield from (way for way in _WAYS if way is not last)

    def _note(self, identity: Identity, way: "_Way") -> None:
        if len(self._last) >= _KEPT:
            self._last.clear()
        self._last[identity.name] = way


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to act as another."""

    name: str
    serves: Callable[[Identity, Identity], bool]

    @property
    def is_old(self) -> bool:
        return not self.name

    def asked(self, other: Identity, asked: Attributes) -> Iterator[Attributes]:
        """The rights that it takes."""
        verb = f"impersonate:{self.name}" if self.name else "impersonate"
        if self.name:
            yield replace(asked, verb=f"impersonate-on:{self.name}:{asked.verb}")
        group = "" if self.is_old else _AUTHENTICATION
        if (account := account_of(other.name)) is not None:
            yield Attributes(verb, group, "serviceaccounts", namespace=account[0], name=account[1])
        elif self.name.endswith("-node"):
            named = "*" if self.name == "associated-node" else other.name.removeprefix(_NODE)
            yield Attributes(verb, group, "nodes", name=named)
        else:
            yield Attributes(verb, group, "users", name=other.name)
        if other.uid:
            yield Attributes(verb, _AUTHENTICATION, "uids", name=other.uid)
        yield from (Attributes(verb, group, "groups", name=name) for name in other.groups)
        for key, values in other.extra.items():
            yield from (Attributes(verb, _AUTHENTICATION, "userextras", key, name=value) for value in values)


def _is_plain(other: Identity) -> bool:
    return not (other.uid or other.groups or other.extra)


def _is_associated(identity: Identity, other: Identity) -> bool:
    nodes = identity.extra.get(_NODE_EXTRA, ())
    own = account_of(identity.name) is not None and len(nodes) == 1 and other.name == _NODE + nodes[0]
    return own and _is_plain(other)


_WAYS: Final = (
    _Way("associated-node", _is_associated),
    _Way("arbitrary-node", lambda _, other: other.name.startswith(_NODE) and _is_plain(other)),
    _Way("serviceaccount", lambda _, other: account_of(other.name) is not None and _is_plain(other)),
    _Way("user-info", lambda _, other: not other.name.startswith(_NODE) and account_of(other.name) is None),
    _Way("", lambda _, __: True),
)


def _check_sane(identity: Identity, other: Identity) -> None:
    """What the constrained ways never allow."""
    for group, what in (("", "empty string"), (MASTERS, MASTERS)):
        if group in other.groups:
            asked = Attributes("impersonate:user-info", _AUTHENTICATION, "groups", name=group)
            why = f"impersonating the {what} group is not allowed"
            raise forbidden(identity, asked, why)


def _complete(other: Identity, way: _Way) -> Identity:
    """The user with the groups that he has by his name."""
    groups = other.groups
    account = account_of(other.name)
    if account is not None and not groups:
        groups = account_groups(account[0])
    elif way.name.endswith("-node"):
        groups = ("system:nodes",)
    if other.name == ANONYMOUS.name:
        groups = _with(groups, UNAUTHENTICATED)
    elif UNAUTHENTICATED not in groups:
        groups = _with(groups, AUTHENTICATED)
    return replace(other, groups=groups)


def _with(groups: tuple[str, ...], group: str) -> tuple[str, ...]:
    return groups if group in groups else (*groups, group)


def _go(identity: Identity) -> str:
    """The user as a server prints him in this one refusal."""
    groups, extra = _go_list(identity.groups), "(nil)"
    if identity.extra:
        extra = f"{{{', '.join(f'{quoted(key)}:{_go_list(held)}' for key, held in sorted(identity.extra.items()))}}}"
    told = f'Name:"", UID:{quoted(identity.uid)}, Groups:{groups}, Extra:map[string][]string{extra}'
    return f"&user.DefaultInfo{{{told}}}"


def _go_list(values: Sequence[str]) -> str:
    return f"[]string{{{', '.join(map(quoted, values))}}}" if values else "[]string(nil)"
