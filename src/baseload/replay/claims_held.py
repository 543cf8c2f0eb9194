"""Whether NodePools keep to their limits, and commands of disruption wait for what replaces a node."""

from dataclasses import dataclass, field
from typing import Final

import msgspec

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record, section
from baseload.kube.types.meta import Quantity, Wire
from baseload.plan.disrupt import Command
from baseload.values import instant, quantity
from baseload.values.clock import Clock
from baseload.values.label import NODEPOOL

MOST: Final = 20
"""Faults that are told"""
_NODES: Final = "nodes"


class Faults:
    """What did not hold, with its moment."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.found: list[str] = []

    def add(self, told: str) -> None:
        if len(self.found) < MOST:
            self.found.append(f"{instant.format(self._clock.now())}: {told}")


class _Condition(Wire, frozen=True):
    type: str = ""
    status: str = ""


class _Status(Wire, frozen=True):
    provider_id: str = msgspec.field(name="providerID", default="")
    capacity: dict[str, Quantity] = {}
    conditions: tuple[_Condition, ...] = ()


class _Spec(Wire, frozen=True):
    termination_grace_period: str | None = None


class _PoolSpec(Wire, frozen=True):
    limits: dict[str, Quantity] = {}


_decode: Final = msgspec.json.Decoder(_Status).decode


@dataclass(slots=True)
class Claim:
    """A NodeClaim as it is now."""

    pool: str
    has_deadline: bool
    capacity: dict[str, int] = field(default_factory=dict)  # empty until it is launched
    is_initialized: bool = False
    is_given_up: bool = False
    is_deleting: bool = False
    is_excused: bool = False
    """A command gave it up and took that back: what was launched in its place is there as well"""

    @property
    def counts(self) -> bool:
        return bool(self.capacity) and not (self.is_given_up or self.is_deleting or self.is_excused)


@dataclass(slots=True)
class _Running:
    """A command that is to wait."""

    command: Command
    born: dict[str, None] = field(default_factory=dict)  # claims of the pools of its replacements since then


class ClaimsHeld:
    """Follows the NodeClaims."""

    def __init__(self, client: ActorClient, faults: Faults) -> None:
        self._client, self._faults = client, faults
        self._claims: dict[str, Claim] = {}
        self._running: dict[str, _Running] = {}  # claim that goes -> its command
        self._spent: dict[str, None] = {}  # claims that came in place of others that have gone

    def claim(self, name: str) -> Claim | None:
        return self._claims.get(name)

    def meet(self, record: Record) -> None:
        """A claim as it is."""
        held = self._claims.get(record.name)
        if held is None:
            spec = record.body.spec(_Spec)
            pool = record.shared.labels.get(NODEPOOL, "")
            held = self._claims[record.name] = Claim(pool, spec.termination_grace_period is not None)
        status = _read(record)
        true = {one.type for one in status.conditions if one.status == "True"}
        is_given_up = "DisruptionReason" in true
        held.is_excused |= held.is_given_up and not is_given_up
        held.is_given_up, held.is_deleting = is_given_up, record.deletion is not None
        held.is_initialized = "Initialized" in true
        if status.capacity and not held.capacity:
            held.capacity = {name: quantity.parse(amount) for name, amount in status.capacity.items()}

    def hear(self, event: Event) -> None:
        """A claim comes, changes or goes."""
        name = event.record.name
        if event.type == "DELETED":
            self._claims.pop(name, None)
            return
        before = self._claims.get(name)
        was_launched = before is not None and bool(before.capacity)
        self.meet(event.record)
        now = self._claims[name]
        if before is None:
            for running in self._running.values():
                running.born[name] = None
            self._judge_number(name, now)
        if now.capacity and not was_launched:
            self._judge_amounts(name, now)

    def decide(self, command: Command) -> None:
        """A command begins."""
        running = _Running(command)
        for one in command.candidates:
            self._running[one.node_claim] = running

    def end(self, name: str) -> None:
        """A command has deleted a claim: what it was to wait for has to be there."""
        running = self._running.pop(name, None)
        if running is None:
            return
        for one in running.command.candidates:
            self._running.pop(one.node_claim, None)  # it is judged once
        for pool in sorted({one.node_pool for one in running.command.replacements}):
            wanted = sum(one.node_pool == pool for one in running.command.replacements)
            ready = [born for born in running.born if self._is_ready(born, pool)]
            self._spent |= dict.fromkeys(ready[:wanted])
            if len(ready) < wanted:
                told = f"{len(ready)} of the {wanted} NodeClaims that replace it are initialised"
                self._faults.add(f"NodeClaim {name} was deleted when {told}")

    def _is_ready(self, name: str, pool: str) -> bool:
        held = self._claims.get(name)
        return held is not None and held.pool == pool and held.is_initialized and name not in self._spent

    def _limits(self, pool: str) -> dict[str, int]:
        found = self._client.records("karpenter.sh", "NodePool").get(pool)
        limits = found.body.spec(_PoolSpec).limits if found is not None else {}
        return {name: quantity.parse(amount) for name, amount in limits.items()}

    def _judge_number(self, name: str, claim: Claim) -> None:
        """Several may be planned in one pass, none once more are there than the limit says (provisioning spec 18)."""
        limit = self._limits(claim.pool).get(_NODES)
        there = sum(1 for it in self._claims.values() if it.pool == claim.pool and it.counts)
        if limit is not None and there * quantity.UNIT > limit:
            told = f"which has {there} nodes, and a limit of {quantity.format(limit)}"
            self._faults.add(f"NodeClaim {name} was created of NodePool {claim.pool}, {told}")

    def _judge_amounts(self, name: str, claim: Claim) -> None:
        """The claim that crosses a limit may be created, none beyond it (provisioning spec 18)."""
        others = [it for other, it in self._claims.items() if it.pool == claim.pool and it.counts and other != name]
        for resource, limit in sorted(self._limits(claim.pool).items()):
            there = sum(it.capacity.get(resource, 0) for it in others)
            if resource != _NODES and there > limit:
                told = f"{quantity.format(there)} of {resource} without it, and a limit of {quantity.format(limit)}"
                self._faults.add(f"NodeClaim {name} was launched of NodePool {claim.pool}, which has {told}")


def _read(record: Record) -> _Status:
    try:
        return _decode(section(record.status) or b"{}")
    except msgspec.ValidationError:
        return _Status()
