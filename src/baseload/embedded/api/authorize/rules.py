"""Rules of roles, and whether one allows something."""

from collections.abc import Iterable
from typing import Final

import msgspec

from baseload.embedded.api.authorize.attributes import Attributes
from baseload.kube.merge.go_text import quoted

ALL: Final = "*"


class Rule(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """An entry of a role's rules."""

    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    urls: tuple[str, ...] = msgspec.field(default=(), name="nonResourceURLs")

    def allows(self, asked: Attributes) -> bool:
        if not _has(self.verbs, asked.verb):
            return False
        if asked.path:
            return any(reaches(url, asked.path) for url in self.urls)
        return (
            _has(self.api_groups, asked.group)
            and self._has_resource(asked)
            and (not self.resource_names or asked.name in self.resource_names)
        )

    def _has_resource(self, asked: Attributes) -> bool:
        if _has(self.resources, asked.combined):
            return True
        return bool(asked.subresource) and f"*/{asked.subresource}" in self.resources

    def __str__(self) -> str:
        """The rule as refusals write it."""
        told = {
            "APIGroups": self.api_groups,
            "Resources": self.resources,
            "NonResourceURLs": self.urls,
            "ResourceNames": self.resource_names,
            "Verbs": self.verbs,
        }
        return f"{{{', '.join(f'{name}:{quoted_all(values)}' for name, values in told.items() if values)}}}"


def quoted_all(texts: Iterable[str]) -> str:
    """%q of texts."""
    return f"[{' '.join(map(quoted, texts))}]"


def _has(held: tuple[str, ...], wanted: str) -> bool:
    return ALL in held or wanted in held


def reaches(url: str, path: str) -> bool:
    """Whether the path of a rule, which may end with a *, has another one in it."""
    return url in (ALL, path) or (url.endswith(ALL) and path.startswith(url.rstrip(ALL)))
