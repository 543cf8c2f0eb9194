"""Who asks: the name and the groups of a user, as every step behind the authentication knows him."""

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
