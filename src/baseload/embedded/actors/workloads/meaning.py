"""Whose selectors mean a pod, among many: asked once for all pods of a namespace that have the same metadata."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Shared

Matches = Callable[[Mapping[str, str]], bool]
_REMEMBERED: Final = 1 << 12  # metadata of pods in a namespace of which it is known who means them


class Meaning:
    """The selectors of one kind of object, by namespace and key."""

    def __init__(self) -> None:
        self._selectors: dict[str, dict[str, Matches]] = {}
        self._known: dict[str, dict[Shared, tuple[str, ...]]] = {}

    def put(self, namespace: str, key: str, matches: Matches) -> None:
        """An object means other pods from now on."""
        self._selectors.setdefault(namespace, {})[key] = matches
        self._known.pop(namespace, None)

    def drop(self, namespace: str, key: str) -> None:
        """An object is no more."""
        if self._selectors.get(namespace, {}).pop(key, None) is not None:
            self._known.pop(namespace, None)

    def of(self, namespace: str, shared: Shared) -> tuple[str, ...]:
        """The keys of the objects that mean pods with this metadata."""
        selectors = self._selectors.get(namespace)
        if not selectors:
            return ()
        known = self._known.setdefault(namespace, {})
        found = known.get(shared)
        if found is None:
            if len(known) >= _REMEMBERED:
                known.clear()
            found = known[shared] = tuple(key for key, matches in selectors.items() if matches(shared.labels))
        return found

    def of_event(self, event: Event) -> Sequence[tuple[str, bool]]:
        """Who meant a pod or means it: each key, and whether the pod is among those that it means now."""
        if not self._selectors:
            return ()
        pod, old = event.record, event.old
        if not self._selectors.get(pod.namespace):
            return ()
        now = () if event.type == "DELETED" else self.of(pod.namespace, pod.shared)
        found = [(key, True) for key in now]
        if event.type == "DELETED" or (old is not None and old.shared is not pod.shared):
            before = self.of(pod.namespace, (old or pod).shared)
            found.extend((key, False) for key in before if key not in now)
        return found
