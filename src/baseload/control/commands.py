"""Carries commands of disruption out: taints, launches, waits, deletes, or rolls back (disruption spec 22).

What a command has done so far is in the cluster, that it runs is known here alone. Whoever is ended in between leaves
taints, conditions and replacements behind: the next pass takes the first two away, the last are nodes like others.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal, TypeVar

from baseload.catalog.columns import InstanceTypes
from baseload.control.controller import STALE, Controller
from baseload.control.informer import Transition
from baseload.control.intents import Intents
from baseload.control.means import Means
from baseload.control.observed import CLAIM
from baseload.decide.disrupt import telling
from baseload.decide.lifecycle import conditions, disrupted
from baseload.decide.lifecycle.creation import claim_from_template, claim_of
from baseload.decide.lifecycle.names import INITIALIZED
from baseload.kube.client.errors import ApiError, Conflict
from baseload.kube.types.core import Node
from baseload.kube.types.karpenter import NodeClaim
from baseload.model.view import View
from baseload.plan.disrupt import Candidate, Command, Method
from baseload.plan.provision import PlannedClaim
from baseload.values.duration import HOUR, MILLISECOND, MINUTE, SECOND
from baseload.values.label import CORE_WELL_KNOWN

T = TypeVar("T", Node, NodeClaim)
LOOKS_EVERY: Final = 1.0
SEEN_WITHIN: Final = 15 * SECOND
"""So long a replacement that was created may be invisible; then it is gone."""
LEAST: Final = 10 * MINUTE
MOST: Final = 1 * HOUR
A_NODE: Final = 80 * MILLISECOND
"""What each node in a command that runs adds to the time that every command has."""
TRIES: Final = 5
Tables = Mapping[str, InstanceTypes]


@dataclass(slots=True)
class Running:
    """A command under way."""

    command: Command
    candidates: tuple[Candidate, ...]
    since: int
    replacements: tuple[str, ...] = ()
    initialized: dict[str, None] = field(default_factory=dict)

    @property
    def claims(self) -> tuple[str, ...]:
        return tuple(candidate.node_claim for candidate in self.candidates)


class Commands:
    """The commands that run."""

    def __init__(self, means: Means, intents: Intents) -> None:
        self._observed, self._objects, self._events = means.observed, means.objects, means.events
        self._clock, self._intents = means.clock, intents
        self._running: dict[str, Running] = {}
        self._ended: dict[str, None] = {}  # claims that were deleted, which is not seen yet
        self._count = 0
        self.is_unclean = True
        """Whether nodes may carry marks of commands that do not run: after a start, and after one that failed"""
        self._launching = 0  # commands whose replacements are being created
        self._seen: dict[str, None] = {}  # claims that were created for commands which run, once they are seen
        self.controller: Final = Controller(self._clock, self.reconcile, workers=means.settings.workers)
        means.observed.informer.listen(self._note)

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes that commands give up which run."""
        return frozenset(candidate.node for one in self._running.values() for candidate in one.candidates)

    @property
    def is_synced(self) -> bool:
        """Whether every replacement is seen that was created."""
        return all(name in self._seen for one in self._running.values() for name in one.replacements)

    def settle(self) -> None:
        """Lets go of the marks of claims that are seen to be deleted."""
        for name in tuple(self._ended):
            claim = self._observed.claim(name)
            if claim is None or claim.metadata.deletion_timestamp:
                del self._ended[name]
                self._intents.unmark((name,))

    async def start(self, command: Command, view: View, tables: Tables) -> bool:
        """Taints the nodes and launches what takes their place; whether the command runs from then on."""
        if self.nodes & {candidate.node for candidate in command.candidates}:
            return False
        chosen = await self._choose(command)
        if not chosen or (command.replacements and len(chosen) < len(command.candidates)):
            self.is_unclean = True
            return False
        self._launching += 1
        try:
            names = [await self._launch(command, planned, tables) for planned in command.replacements]
        except ApiError:
            self.is_unclean = True
            return False
        finally:
            self._launching -= 1
        # Only now: the provisioner plans for the pods of marked nodes, and would launch for them a second time.
        one = Running(command, chosen, self._clock.now(), tuple(names))
        self._intents.mark(one.claims)
        self._intents.nominate((moved.to for moved in command.pods), view)
        self._count += 1
        self._running[str(self._count)] = one
        if not self._launching:
            wanted = {name for it in self._running.values() for name in it.replacements}
            self._seen = {name: None for name in self._seen if name in wanted}
        self.controller.queue.add(str(self._count))
        return True

    async def reconcile(self, key: str) -> float | None:
        """Brings a command a step further; when to look again."""
        one = self._running[key]
        now, limit = self._clock.now(), min(max(A_NODE * len(self.nodes), LEAST), MOST)
        try:
            outcome = await self._advance(one)
        except ApiError:
            outcome = "waits"
        if now - one.since > limit:
            outcome = "failed"
        if outcome == "waits":
            return LOOKS_EVERY
        del self._running[key]
        for name in one.replacements:
            self._seen.pop(name, None)
        if outcome == "failed":
            await self._roll_back(one)
        else:
            self._ended |= dict.fromkeys(one.claims)
        return None

    def _note(self, change: Transition) -> None:
        if change.kind is CLAIM and change.after is not None:
            name = change.after.metadata.name
            if self._launching or any(name in one.replacements for one in self._running.values()):
                self._seen[name] = None

    async def _choose(self, command: Command) -> tuple[Candidate, ...]:
        """Marks the candidates in the cluster; those with which that came about."""
        marked: dict[str, None] = {}

        async def mark(candidate: Candidate) -> None:
            choose = partial(disrupted.chosen, reason=command.reason, now=self._clock.now())
            is_tainted = await self._write(partial(self._observed.node, candidate.node), disrupted.tainted)
            if is_tainted and await self._write(partial(self._observed.claim, candidate.node_claim), choose):
                marked[candidate.node] = None

        await self._clock.together(*(mark(candidate) for candidate in command.candidates))
        return tuple(candidate for candidate in command.candidates if candidate.node in marked)

    async def _launch(self, command: Command, planned: PlannedClaim, tables: Tables) -> str:
        """The name of the claim that takes a place."""
        pool = self._observed.pool(planned.node_pool)
        if pool is None or pool.metadata.deletion_timestamp:
            raise Conflict(f"NodePool {planned.node_pool} is gone")
        well_known = CORE_WELL_KNOWN | tables[planned.node_pool].well_known
        is_static = command.method is Method.STATIC_DRIFT
        tree = claim_from_template(pool, well_known) if is_static else claim_of(planned, pool, well_known)
        return await self._objects.create(NodeClaim, tree)

    async def _advance(self, one: Running) -> Literal["waits", "failed", "done"]:
        """Waits until every replacement is initialised, then deletes the candidates."""
        reason = one.command.reason
        for name in one.replacements:
            if name in one.initialized:
                continue
            claim = self._observed.claim(name)
            if claim is None:
                is_lost = name in self._seen or self._clock.now() - one.since > SEEN_WITHIN
                return "failed" if is_lost else "waits"
            self._events.tell(claim, telling.launching(reason))
            if conditions.is_true(claim.status.conditions, INITIALIZED):
                one.initialized[name] = None
            else:
                self._events.tell(claim, telling.waiting())
        if len(one.initialized) < len(one.replacements):
            return "waits"
        for candidate in one.candidates:
            await self._delete(candidate, reason)
        return "done"

    async def _delete(self, candidate: Candidate, reason: str) -> None:
        claim, node = self._observed.claim(candidate.node_claim), self._observed.node(candidate.node)
        if claim is None or claim.metadata.deletion_timestamp:
            return
        await self._objects.delete(claim)
        self._events.tell(claim, telling.terminating("NodeClaim", reason))
        if node is not None:
            self._events.tell(node, telling.terminating("Node", reason))

    async def _roll_back(self, one: Running) -> None:
        """Takes the marks back. Replacements that did come up stay as nodes like others."""
        for candidate in one.candidates:
            find_claim = partial(self._observed.claim, candidate.node_claim)
            is_back = await self._write(partial(self._observed.node, candidate.node), disrupted.untainted)
            is_back &= await self._write(find_claim, disrupted.not_chosen)
            self.is_unclean = self.is_unclean or not is_back
        self._intents.unmark(one.claims)

    async def _write(self, find: Callable[[], T | None], change: Callable[[T], T]) -> bool:
        """Writes an object as a change wants it, on its newest state; whether that came about."""
        for _ in range(TRIES):
            held = find()
            if held is None:
                return False
            with suppress(Conflict):
                try:
                    await self._objects.write(held, change(held))
                except ApiError as error:
                    if isinstance(error, Conflict):
                        raise
                    return False
                return True
            await self._clock.sleep(STALE)
        return False
