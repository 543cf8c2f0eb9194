"""Tokens of service accounts: JSON web tokens that this server signs, and takes as long as what they name is there.

A token is good for its audience until it expires, and no longer than its service account and the object that it is
bound to. It is signed with a key that only this server has (HS256), so no one else can check it: whoever gets a token
asks with a TokenReview.
"""

import base64
import hashlib
import hmac
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from baseload.embedded.api.authorize.rules import quoted_all
from baseload.embedded.api.identity import AUTHENTICATED, Identity, account_groups, account_user
from baseload.embedded.store.ports import Clock
from baseload.embedded.store.record import Record
from baseload.embedded.store.store import Store
from baseload.values import instant

AUDIENCE: Final = "https://kubernetes.default.svc"
"""What calls itself the API, and who it is that issues tokens"""

_HEADER: Final = b'{"alg":"HS256","typ":"JWT"}'
_UNKNOWN: Final = "invalid bearer token"
_LEEWAY: Final = 60  # seconds that clocks may be apart, and that what is being deleted is still there
_EXTRA: Final = "authentication.kubernetes.io/"
_LONGEST: Final = 16 * 1024


class Reference(msgspec.Struct, frozen=True, omit_defaults=True):
    """An object that a token names."""

    name: str = ""
    uid: str = ""


class Bound(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a token of a service account says beside the registered claims."""

    namespace: str = ""
    serviceaccount: Reference = Reference()
    pod: Reference | None = None
    secret: Reference | None = None
    node: Reference | None = None


class Claims(msgspec.Struct, frozen=True):
    """What a token says."""

    aud: tuple[str, ...]
    exp: int
    iat: int
    iss: str
    jti: str
    bound: Bound = msgspec.field(name="kubernetes.io")
    nbf: int
    sub: str


class Refused(Exception):
    """A token that is not taken; the text holds nothing of it."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Issues and checks tokens."""

    store: Store
    clock: Clock
    key: bytes = field(repr=False)
    static: Mapping[str, Identity] = field(default_factory=dict, repr=False)  # tokens that were handed in, and whose

    def issued(self, bound: Bound, audiences: Sequence[str], seconds: int) -> str:
        """A token of a service account."""
        now = self._now()
        claims = Claims(
            aud=tuple(audiences),
            exp=now + seconds,
            iat=now,
            iss=AUDIENCE,
            jti=str(uuid.uuid4()),
            bound=bound,
            nbf=now,
            sub=account_user(bound.namespace, bound.serviceaccount.name),
        )
        signed = b"%b.%b" % (_encoded(_HEADER), _encoded(msgspec.json.encode(claims)))
        return (signed + b"." + _encoded(self._signature(signed))).decode()

    def identity(self, token: str, audiences: Sequence[str] = (AUDIENCE,)) -> tuple[Identity, tuple[str, ...]]:
        """Whose token it is, and for which of the audiences it is good."""
        known = self.static.get(token)
        if known is not None and AUDIENCE in audiences:
            return known, (AUDIENCE,)
        claims = self._read(token)
        good = tuple(audience for audience in audiences if audience in claims.aud)
        if not good:
            told = (
                f"token audiences {quoted_all(claims.aud)} is invalid for the target audiences {quoted_all(audiences)}"
            )
            raise _refused(told)
        now = self._now()
        if now > claims.exp + _LEEWAY:
            raise _refused("service account token has expired")
        if now < claims.nbf - _LEEWAY:
            raise _refused("service account token is not valid yet")
        self._check_alive(claims.bound)
        return _identity(claims), good

    def _read(self, token: str) -> Claims:
        signed, _, signature = token.encode("ascii", "replace").rpartition(b".")
        if len(token) > _LONGEST or not hmac.compare_digest(_encoded(self._signature(signed)), signature):
            raise Refused(_UNKNOWN)
        return msgspec.json.decode(_decoded(signed.partition(b".")[2]), type=Claims)

    def _signature(self, signed: bytes) -> bytes:
        return hmac.new(self.key, signed, hashlib.sha256).digest()

    def _check_alive(self, bound: Bound) -> None:
        self._check_object("ServiceAccount", bound.namespace, bound.serviceaccount)
        of_pod = None if bound.pod is not None else bound.node
        for kind, namespace, reference in (
            ("Pod", bound.namespace, bound.pod),
            ("Secret", bound.namespace, bound.secret),
            ("Node", "", of_pod),
        ):
            if reference is not None:
                self._check_object(kind, namespace, reference)

    def _check_object(self, kind: str, namespace: str, reference: Reference) -> None:
        record = found(self.store, kind, namespace, reference.name)
        if record is None or record.uid != reference.uid or self._has_ended(record):
            raise _refused("service account token has been invalidated")

    def _has_ended(self, record: Record) -> bool:
        if record.deletion is None:
            return False
        return instant.parse(record.deletion.timestamp) // instant.SECOND < self._now() - _LEEWAY

    def _now(self) -> int:
        return self.clock.now() // instant.SECOND


def _refused(why: str) -> Refused:
    """A refusal in the words of a server that has asked all who could know the token."""
    return Refused(f"[{_UNKNOWN}, {why}]")


def found(store: Store, kind: str, namespace: str, name: str) -> Record | None:
    """An object of the core group."""
    resource = store.resource_of("", kind)
    assert resource is not None
    return store.find(resource, namespace, name)


def _identity(claims: Claims) -> Identity:
    bound = claims.bound
    extra = {f"{_EXTRA}credential-id": (f"JTI={claims.jti}",)}
    for name, reference in (("node", bound.node), ("pod", bound.pod)):
        if reference is not None:
            extra[f"{_EXTRA}{name}-name"] = (reference.name,)
            if reference.uid:
                extra[f"{_EXTRA}{name}-uid"] = (reference.uid,)
    groups = (*account_groups(bound.namespace), AUTHENTICATED)
    return Identity(claims.sub, groups, bound.serviceaccount.uid, extra)


def _encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _decoded(text: bytes) -> bytes:
    return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))
