"""When kubelets renewed their leases: as arithmetic, not as writes.

A thousand nodes renew a lease every ten seconds, and nobody reads them as long as all is well. So a kubelet says since
when it renews and when it fell silent; the Lease object is written at those moments alone. Whoever asks for the last
renewal gets it by arithmetic. Renewals that come as writes to a Lease, from a kubelet outside, count as well.
"""

from collections.abc import Callable, Mapping

from baseload.decide.node import silence
from baseload.decide.node.silence import Renewals


class Heartbeats:
    """The renewals of all nodes of a cluster."""

    def __init__(self) -> None:
        self._held: dict[str, Renewals] = {}
        self._changed: dict[str, None] = {}
        self._rings: list[Callable[[], None]] = []

    def begin(self, node: str, now: int) -> None:
        """The node's kubelet renews from now on."""
        self._put(node, Renewals(now))

    def fall_silent(self, node: str, now: int) -> None:
        """It does not renew any more."""
        held = self._held.get(node)
        if held is not None and held.silent is None:
            self._put(node, Renewals(held.began, now, held.period))

    def renew(self, node: str, now: int) -> None:
        """It has renewed once, as a write of its lease tells; who said that he renews needs no such writes."""
        held = self._held.get(node)
        if held is None or held.silent is not None:
            self._put(node, Renewals(now, now, silence.RENEWAL))

    def of(self, node: str) -> Renewals | None:
        """The renewals of a node; None where it never had any."""
        return self._held.get(node)

    @property
    def all(self) -> Mapping[str, Renewals]:
        return self._held

    def forget(self, node: str) -> None:
        self._held.pop(node, None)

    def follow(self, ring: Callable[[], None]) -> None:
        """`ring` is called when a node begins, falls silent or renews."""
        self._rings.append(ring)

    def unfollow(self, ring: Callable[[], None]) -> None:
        self._rings.remove(ring)

    def take(self) -> tuple[str, ...]:
        """The nodes of which something changed since the last time."""
        changed = tuple(self._changed)
        self._changed.clear()
        return changed

    def _put(self, node: str, renewals: Renewals) -> None:
        self._held[node] = renewals
        self._changed[node] = None
        for ring in self._rings:
            ring()
