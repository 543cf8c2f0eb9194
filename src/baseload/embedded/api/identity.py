"""Who asks: the name and the groups of a user, as every step behind the authentication knows him."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

MASTERS: Final = "system:masters"
AUTHENTICATED: Final = "system:authenticated"
UNAUTHENTICATED: Final = "system:unauthenticated"


@dataclass(frozen=True, slots=True)
class Identity:
    """A user."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_master(self) -> bool:
        """Whether he may do everything, whatever roles say."""
        return MASTERS in self.groups


ADMIN: Final = Identity("system:admin", (MASTERS, AUTHENTICATED))
"""Whoever reaches a server that asks nobody who he is"""

ANONYMOUS: Final = Identity("system:anonymous", (UNAUTHENTICATED,))
"""Whoever shows no credentials where some are asked for"""

_ACCOUNT: Final = "system:serviceaccount:"
_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_SUBDOMAIN: Final = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def account_of(user: str) -> tuple[str, str] | None:
    """The namespace and the name of the service account that a user is; None where he is none."""
    namespace, colon, name = user.removeprefix(_ACCOUNT).partition(":")
    if not (user.startswith(_ACCOUNT) and colon and _LABEL.fullmatch(namespace) and _SUBDOMAIN.fullmatch(name)):
        return None
    return namespace, name


def account_user(namespace: str, name: str) -> str:
    """The user that a service account is."""
    return f"{_ACCOUNT}{namespace}:{name}"


def account_groups(namespace: str) -> tuple[str, ...]:
    """The groups that all service accounts of a namespace are in."""
    return "system:serviceaccounts", f"system:serviceaccounts:{namespace}"
