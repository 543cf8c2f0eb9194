"""What a pass decides on: its candidates, what budgets still allow, and the simulator, each made when first needed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.decide.disrupt import budgets, filters, overlay
from baseload.decide.disrupt.balanced import Balance
from baseload.decide.disrupt.candidates import NOBODY_BUSY, Busy, Candidate, Looked, Survey
from baseload.decide.disrupt.consolidation import Consolidation
from baseload.decide.disrupt.moves import Deadline, Stopped, unhurried
from baseload.decide.disrupt.simulate import Simulator
from baseload.decide.disrupt.static_templates import StaticTemplates
from baseload.decide.provision import hosts
from baseload.decide.provision.launch import Launches
from baseload.decide.provision.memory import Memory
from baseload.decide.provision.options import Options
from baseload.decide.provision.setup import Setting, set_up, setting_of
from baseload.kube.types.karpenter import NodePool
from baseload.model.requests import Amounts, add, amounts
from baseload.model.view import View, name_of
from baseload.plan.disrupt import Kept

NO_POOL: Final = Stopped(Kept.NO_READY_POOL, "no dynamic NodePool is ready, without which nothing is simulated")
"""Why nothing can be simulated"""


@dataclass(frozen=True, slots=True)
class Haste:
    """When the searches have to end."""

    multi_node: Deadline = unhurried
    single_node: Deadline = unhurried
    unreached: tuple[str, ...] = ()  # pools that the last single-node search did not get to, which come first


UNHURRIED: Final = Haste()


class Situation:
    """One view at one moment."""

    def __init__(
        self,
        view: View,
        tables: Mapping[str, InstanceTypes],
        options: Options,
        *,
        busy: Busy = NOBODY_BUSY,
        haste: Haste = UNHURRIED,
        memory: Memory | None = None,
    ) -> None:
        """`memory` is that of earlier situations of the same cluster."""
        assert options.now is not None, "budgets and windows need the moment of the decision"
        self.view: Final = overlay.cleaned(view, busy.in_command)
        self.options: Final = options
        self.now: Final = options.now
        self.haste: Final = haste
        self._tables: Final = tables
        self.busy: Final = busy
        self._memory: Final = memory

    @cached_property
    def setting(self) -> Setting:
        return setting_of(self.view, self._tables, self.options, self._memory)

    @cached_property
    def tables(self) -> Mapping[str, InstanceTypes]:
        """NodePool -> its types, overlays applied."""
        return {name: overlaid.types for name, overlaid in self.setting.types.items()}

    @cached_property
    def looked(self) -> tuple[Looked, ...]:
        return tuple(Survey(self.view, self.tables, self.now, self.busy).looked())

    def candidates(self, forbids: Callable[[Candidate], object]) -> list[Candidate]:
        """The candidates that nothing forbids a method to consider."""
        return [c for it in self.looked if (c := it.candidate) is not None and not forbids(c)]

    def allowances(self, reason: str) -> dict[str, int]:
        """NodePool -> how many more of its nodes may go for this reason."""
        census = self._census
        none = budgets.Census()
        return {
            name: budgets.allowed(pool, *_counts(census.get(name, none)), reason, self.now)
            for name, pool in self.pools.items()
        }

    def census_of(self, pool: str) -> budgets.Census:
        """The nodes of a pool that its budgets look at."""
        return self._census.get(pool, budgets.Census())

    @cached_property
    def pools(self) -> Mapping[str, NodePool]:
        return {pool.metadata.name: pool for pool in self.view.node_pools}

    @cached_property
    def _census(self) -> Mapping[str, budgets.Census]:
        return budgets.census(self.view.state_nodes, self.busy.in_command)

    @cached_property
    def simulator(self) -> Simulator | None:
        """None where no pool is ready to launch anything, so that nothing can be simulated (13.3)."""
        return Simulator(self.setting, self.now) if self.setting.pools else None

    @cached_property
    def consolidation(self) -> Consolidation | None:
        if self.simulator is None:
            return None
        return Consolidation(self.simulator, spot_to_spot=self.options.gate("SpotToSpotConsolidation"))

    @cached_property
    def balance(self) -> Balance:
        candidates = self.candidates(filters.pods_forbid)
        return Balance(self.view, self.tables, candidates)

    @cached_property
    def buffered(self) -> frozenset[str]:
        """Nodes on which pods of a CapacityBuffer are planned."""
        virtual = {name_of(pod) for buffer in self.setting.buffers for pod in buffer.pods}
        if not virtual or not self.setting.pools:
            return frozenset()
        made = set_up(self.setting)
        placed = made.fit.solve(made.pods, most_reasons=None).on_nodes
        return frozenset(made.cluster.hosts[place].name for pod, place in placed if pod.name in virtual)

    def used_of(self, pool: str) -> Amounts:
        """What the nodes of a pool that stay charge to its limits."""
        return self._used.get(pool, {})

    @cached_property
    def _used(self) -> Mapping[str, Amounts]:
        used: dict[str, Amounts] = {}
        for state in hosts.offered(self.view):
            add(used.setdefault(state.pool, {}), state.charged)
        return used

    @cached_property
    def over_limits(self) -> Mapping[str, str]:
        """NodePool that has more than its limits allow -> of what; none of its NodeClaims is created (13)."""
        found = {}
        for name, pool in self.pools.items():
            limits = amounts(pool.spec.limits)
            over = [resource for resource, limit in limits.items() if self.used_of(name).get(resource, 0) > limit]
            if over:
                found[name] = ", ".join(sorted(over))
        return found

    @cached_property
    def static(self) -> StaticTemplates:
        """What static pools launch."""
        return StaticTemplates(self.view, self.setting.types, self.options)

    @cached_property
    def launches(self) -> Launches | None:
        """What turns claims that were simulated into plan values."""
        if self.simulator is None:
            return None
        strict = self.options.min_values_policy == "Strict"
        return Launches(self.simulator.made.sets, self.pools, strict=strict)


def _counts(census: budgets.Census) -> tuple[int, int]:
    return census.nodes, census.disrupted


def ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The dearest for what they disrupt first."""
    return sorted(candidates, key=lambda candidate: candidate.rank)


def spending(candidates: Sequence[Candidate], allowances: dict[str, int]) -> Iterator[tuple[Candidate, bool]]:
    """Each candidate in turn, and whether its pool's allowance still let it go."""
    for candidate in candidates:
        left = allowances.get(candidate.pool_name, 0)
        if left > 0:
            allowances[candidate.pool_name] = left - 1
        yield candidate, left > 0


def over_budget(candidate: Candidate, reason: str) -> Stopped:
    text = f"the budgets of NodePool {candidate.pool_name} let no more nodes go now for {reason}"
    return Stopped(Kept.BUDGET, text)
