"""The Leases of the nodes: written when a kubelet begins or falls silent, and before anybody looks at them.

A thousand kubelets renew every ten seconds, and as long as all is well nobody looks. So a renewal is arithmetic
(`heartbeats`) until it is asked for: what a kubelet that writes each of them would have written by now is written right
before a request for Leases is answered. While somebody watches them, each is written at its moment, as all are with
`writes_every_renewal`.
"""

import heapq
from typing import Final

import msgspec

from baseload.decide.node import silence
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.heartbeats import Heartbeats
from baseload.embedded.actors.lives import Life, Lives
from baseload.embedded.store import record as records
from baseload.embedded.store.record import Owner, Record
from baseload.values import instant

NAMESPACE: Final = "kube-node-lease"
_STAYS: Final = 60 * instant.SECOND  # how long a reader that does not wait for the next event counts as one still


class Leases:
    """The Leases of one cluster's kubelets."""

    def __init__(
        self, client: ActorClient, lives: Lives, heartbeats: Heartbeats, *, writes_every_renewal: bool = False
    ) -> None:
        self._client, self._lives, self._heartbeats = client, lives, heartbeats
        self._kind = client.resource("coordination.k8s.io", "Lease")
        self._node = client.resource("", "Node")
        self._table = client.store.table(self._kind)
        self._is_eager = writes_every_renewal
        self._written: dict[str, int] = {}  # node -> the renewal that its Lease tells
        self._due: list[tuple[int, str]] = []  # renewals to write, while each is
        self._watched = 0  # when somebody was last seen to watch
        self._living = lives.begin(self._life())
        client.cluster.before_reading[self._kind] = self._refresh

    def begin(self, node: str) -> None:
        """The node's kubelet renews from now on."""
        now = self._client.cluster.clock.now()
        self._heartbeats.begin(node, now)
        self._written.pop(node, None)
        self._write(node)
        if self._is_eager or self._due:
            self._arrange(node, now)
            self._lives.poke(self._living)

    def fall_silent(self, node: str) -> None:
        """It does not renew any more."""
        self._write(node)
        self._heartbeats.fall_silent(node, self._client.cluster.clock.now())

    def forget(self, node: str) -> None:
        """The Node is gone."""
        self._heartbeats.forget(node)
        self._written.pop(node, None)

    def _refresh(self, namespace: str, name: str, is_watch: bool) -> None:
        """For the API: somebody is about to read."""
        if namespace not in ("", NAMESPACE):
            return
        for node in [name] if name else list(self._written):
            if node in self._written:
                self._write(node)
        if is_watch:
            self._watched = self._client.cluster.clock.now()
            self._lives.poke(self._living)

    def _life(self) -> Life:
        """Writes renewals when they are due, as long as somebody watches."""
        due = self._due
        while True:
            now = self._client.cluster.clock.now()
            if not self._is_watched(now):
                due.clear()
                yield None
                continue
            if not due:
                for node in self._written:
                    self._arrange(node, now)
            while due and due[0][0] <= now:
                node = heapq.heappop(due)[1]
                if node in self._written:
                    self._write(node)
                    self._arrange(node, now)
            yield due[0][0] if due else None

    def _is_watched(self, now: int) -> bool:
        if self._table.asleep:
            self._watched = now
        return self._is_eager or (self._watched > 0 and now - self._watched < _STAYS)

    def _arrange(self, node: str, now: int) -> None:
        """Has the next renewal of a node be written."""
        renewals = self._heartbeats.of(node)
        if renewals is not None and renewals.silent is None:
            heapq.heappush(self._due, (renewals.last(now) + renewals.period, node))

    def _write(self, node: str) -> None:
        """Writes the last renewal of a node up to now, if that is not what was written last."""
        renewals = self._heartbeats.of(node)
        held = self._client.store.find(self._node, "", node)
        if renewals is None or held is None:
            return
        last = renewals.last(self._client.cluster.clock.now())
        if self._written.get(node) == last:
            return
        self._written[node] = last
        body = records.Body(b'"spec":' + msgspec.json.encode(_spec(node, last)))
        store = self._client.store
        if store.find(self._kind, NAMESPACE, node) is None:
            shared = records.shared(owners=(Owner("v1", "Node", held.name, held.uid),))
            store.create(Record(self._kind, NAMESPACE, node, shared, body))
        else:
            store.change(self._kind, NAMESPACE, node, lambda lease: lease.with_body(body), "all", exact=True)


def _spec(node: str, renewal: int) -> dict[str, object]:
    whole, micros = renewal // instant.SECOND, renewal % instant.SECOND // 1000
    moment = instant.format(whole * instant.SECOND).replace("Z", f".{micros:06}Z")
    return {"holderIdentity": node, "leaseDurationSeconds": silence.LEASE_SECONDS, "renewTime": moment}


class LeaseSpec(msgspec.Struct, frozen=True, rename="camel"):
    """What is read in a Lease, whoever wrote it."""

    renew_time: str = ""


def renewed_at(lease: Record) -> int | None:
    """When a Lease says that it was renewed; None where it says nothing that can be read."""
    try:
        return instant.parse(lease.body.spec(LeaseSpec).renew_time)
    except (msgspec.MsgspecError, instant.InstantError):
        return None
