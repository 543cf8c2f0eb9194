"""Whether somebody may do something, and the refusal where he may not."""

from dataclasses import dataclass
from typing import Final

from baseload.embedded.api.authorize.attributes import Attributes
from baseload.embedded.api.authorize.grants import Grant, Granted, Grants
from baseload.embedded.api.authorize.rules import Rule
from baseload.embedded.api.identity import Identity
from baseload.embedded.store.errors import Forbidden
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.store import Store
from baseload.kube.merge.go_text import quoted

EVERYTHING: Final = (
    Rule(verbs=("*",), api_groups=("*",), resources=("*",)),
    Rule(verbs=("*",), urls=("*",)),
)
"""What a master has without any role"""


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer with its reason."""

    is_allowed: bool
    reason: str = ""


_ALLOWED: Final = Decision(True)


class Authorizer:
    """Role based access control over the roles and bindings in a store."""

    def __init__(self, store: Store) -> None:
        self.grants = Grants(store)

    def decide(self, identity: Identity, asked: Attributes) -> Decision:
        """Whether somebody may do something; of a master nothing is looked up."""
        if identity.is_master:
            return _ALLOWED
        granted = self.grants.of(identity, asked.namespace)
        grant = _first(granted, asked)
        if grant is None:
            return Decision(False, f"rbac: RBAC: {granted.trouble}" if granted.missing else "")
        return Decision(True, f"RBAC: allowed by {grant.binding.told(identity)}")

    def allows(self, identity: Identity, asked: Attributes) -> bool:
        """Whether somebody may do something, without the reason."""
        return identity.is_master or _first(self.grants.of(identity, asked.namespace), asked) is not None

    def check(self, identity: Identity, asked: Attributes) -> None:
        """Refuses what somebody may not do."""
        if not self.allows(identity, asked):
            raise forbidden(identity, asked, self.decide(identity, asked).reason)

    def rules(self, identity: Identity, namespace: str) -> tuple[tuple[Rule, ...], Granted]:
        """All rules that somebody has in a namespace, and where they come from."""
        granted = self.grants.of(identity, namespace)
        own = tuple(grant.rule for grant in granted.grants)
        return (*EVERYTHING, *own) if identity.is_master else own, granted


def _first(granted: Granted, asked: Attributes) -> Grant | None:
    return next((grant for grant in granted.grants if grant.rule.allows(asked)), None)


def forbidden(identity: Identity, asked: Attributes, reason: str = "") -> Forbidden:
    """The refusal of a request."""
    told = _told(identity, asked) + (f": {reason}" if reason else "")
    if asked.path:
        return Forbidden(f"forbidden: {told}")
    resource = Resource(asked.group, "", asked.resource, asked.resource)
    named = f" {quoted(asked.name)}" if asked.name else ""
    return Forbidden(f"{resource.qualified}{named} is forbidden: {told}", resource=resource, name=asked.name)


def _told(identity: Identity, asked: Attributes) -> str:
    who = f"User {quoted(identity.name)} cannot {asked.verb}"
    if asked.path:
        told = f"{who} path {quoted(asked.path)}"
    else:
        where = f"in the namespace {quoted(asked.namespace)}" if asked.namespace else "at the cluster scope"
        told = f"{who} resource {quoted(asked.combined)} in API group {quoted(asked.group)} {where}"
    return told.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
