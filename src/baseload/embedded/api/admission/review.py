"""What an admission function gets to see, and the order in which admission happens.

First the functions that may change the object; then it is checked; then the functions that may only refuse it, which
see it as it would be stored.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.store import errors
from baseload.embedded.store.errors import Forbidden
from baseload.embedded.store.record import Json, Record
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.store import Store


@dataclass(frozen=True, slots=True)
class Review:
    """One write that is about to happen; `tree` may be changed in place by the functions that mend."""

    operation: Literal["CREATE", "UPDATE"]
    kind: ServedKind
    tree: dict[str, Json]
    old: Record | None
    store: Store
    is_seed: bool = False  # an object of an earlier cluster, put back with all that it had
    subresource: str = ""
    looked_at: set[Resource] = field(default_factory=set)  # other kinds whose objects had a say
    is_named: bool = True  # whether a generated name is known already, as it is once the object is mended

    def is_of(self, group: str, *kinds: str) -> bool:
        """Whether the object is of one of these kinds."""
        resource = self.kind.resource
        return resource.group == group and resource.kind in kinds

    @property
    def namespace(self) -> str:
        return str(self._metadata.get("namespace") or "")

    @property
    def name(self) -> str:
        prefix = self._metadata.get("generateName")
        return str(prefix if prefix and not self.is_named else self._metadata.get("name") or "")

    @property
    def spec(self) -> dict[str, Json]:
        """The spec; an empty one of nobody's where there is none."""
        found = self.tree.get("spec")
        return found if isinstance(found, dict) else {}

    @property
    def _metadata(self) -> dict[str, Json]:
        found = self.tree.get("metadata")
        return found if isinstance(found, dict) else {}

    def resource(self, group: str, kind: str) -> Resource:
        """Another kind that is served."""
        found = self.store.resource_of(group, kind)
        assert found is not None, f"{kind} is not served"
        self.looked_at.add(found)
        return found

    def records(self, group: str, kind: str) -> list[Record]:
        """All objects of another kind."""
        return self.store.list(self.resource(group, kind)).records

    def refused(self, why: str) -> Forbidden:
        """The refusal of this object, for a reason."""
        return errors.forbidden(self.kind.resource, self.name, why)


Admission: TypeAlias = Callable[[Review], None]
"""Mends the object or raises a StatusError"""


@dataclass(frozen=True, slots=True)
class Chain:
    """The admission functions of a server."""

    mend: tuple[Admission, ...] = ()
    refuse: tuple[Admission, ...] = ()
