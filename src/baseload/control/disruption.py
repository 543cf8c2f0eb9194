"""The loop of disruption: every 10 s it looks for nodes to give up, and starts what it finds (disruption spec 2, 10).

A pass tries the methods in their order; the first that starts anything ends it, and another one follows at once. What
is to be consolidated is validated 15 s after it was found. A method that found nothing does not search again until
something changed that may have made it possible, or 5 minutes are over.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.cloud.errors import CloudError
from baseload.control.circles import Circles
from baseload.control.commands import Commands
from baseload.control.informer import Transition
from baseload.control.intents import Intents
from baseload.control.means import Means
from baseload.control.observed import CLAIM, NODE, POD, is_provided
from baseload.decide.disrupt import budgets, overlay, telling
from baseload.decide.disrupt.candidates import Busy
from baseload.decide.disrupt.decide import METHODS, Names, commands_of
from baseload.decide.disrupt.moves import Outcome
from baseload.decide.disrupt.situation import Haste, Situation
from baseload.decide.disrupt.validate import DELAY, VALIDATED, still_empty, still_holds
from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.names import CONSOLIDATABLE, DRIFTED
from baseload.decide.lifecycle.reported import reported_to_disruption
from baseload.decide.provision.memory import Memory
from baseload.kube.client.errors import ApiError, Conflict, NotFound
from baseload.kube.client.objects import Object
from baseload.kube.types.core import Node
from baseload.kube.types.karpenter import NodeClaim
from baseload.model.statenode import INITIALIZED
from baseload.plan.disrupt import DRIFTED as FOR_DRIFT
from baseload.plan.disrupt import EMPTY, UNDERUTILIZED, Command, Kept, Method, Tried
from baseload.plan.lifecycle import Told
from baseload.values.duration import MINUTE, SECOND

POLLS_EVERY: Final = 10.0
UNSYNCED: Final = 1.0
ANEW: Final = 5 * MINUTE
"""So long after the last change everything is searched once more."""
TELLS_EVERY: Final = 30 * MINUTE
"""So often a pass looks at nodes of which none may be given up now, only to tell why (Karpenter's do at every pass)"""
MULTI_NODE: Final = 1 * MINUTE
SINGLE_NODE: Final = 3 * MINUTE
"""How long the searches may take."""
Tables = Mapping[str, InstanceTypes]


class Disruption:
    """The controller of what is given up by choice."""

    def __init__(self, means: Means, intents: Intents, tables: Callable[[], Awaitable[Tables]]) -> None:
        self._observed, self._objects, self._events = means.observed, means.objects, means.events
        self._clock, self._options, self._tables, self._intents = means.clock, means.settings.options, tables, intents
        self.commands: Final = Commands(means, intents)
        self.circles: Final = Circles(means)
        self._stamp = self._clock.now()  # when something changed last
        self._settled: dict[Method, int] = {}  # the stamp at which a method found nothing
        self._unreached: tuple[str, ...] = ()
        self._memory = Memory()
        self._marked: dict[str, None] = {}  # claims that are consolidatable or drifted
        self._changed: dict[str, None] = {}  # claims that were not looked at since
        self._looked = self._clock.now() - TELLS_EVERY  # when a pass looked at every node last
        self._idle: tuple[int, int] | None = None  # stamp and changes at which a pass found nothing
        self.passes = 0  # that looked at every node
        self.told: Callable[[Command], None] = lambda _: None
        """Called with each command before anything of it is done; it may only take a note"""
        means.observed.informer.listen(self._note)

    async def run(self) -> None:
        """Works for ever."""
        await self._clock.together(self.commands.controller.run(), self._loop())

    async def _loop(self) -> None:
        while True:
            try:
                again = await self.make_pass()
            except (ApiError, CloudError):
                again = POLLS_EVERY
            await self._clock.sleep(again)

    async def make_pass(self) -> float:
        """Looks once; in how many seconds the next look is due."""
        self.commands.settle()
        changes = sum(kept.changes for kept in self._observed.informer.kept.values())
        stamp = self._renewed()
        if self._is_idle(stamp, changes):
            return POLLS_EVERY
        if not self.commands.is_synced or any(not it.status.provider_id for it in self._observed.claims()):
            return UNSYNCED
        situation = self._situation(await self._tables())
        if self.commands.is_unclean and not await self._clean(situation):
            return 0.0
        self.passes += 1
        self._looked = situation.now
        for state, told in telling.kept(situation):
            self._tell(state.node, state.claim, told)
        for method in METHODS:
            started = await self._try(method, situation)
            if started is None:
                return POLLS_EVERY
            if started:
                return 0.0
            if self._clock.now() != situation.now:
                situation = self._situation(await self._tables())  # a command was waited for, and did not hold
        if not self._is_timed(situation):
            self._idle = stamp, changes
        return POLLS_EVERY

    async def _try(self, method: Method, situation: Situation) -> bool | None:
        """Whether a method started something; None where the pass ends with an error."""
        if method in VALIDATED and self._settled.get(method) == self._stamp:
            return False
        stamp = self._stamp
        outcome = METHODS[method](situation)
        if outcome.is_settled:
            self._settled[method] = stamp
        if method is Method.SINGLE_NODE:
            self._unreached = outcome.unreached
        self._tell_tried(outcome.tried, situation)
        if outcome.error:
            return None
        commands = await self._commands(method, outcome, situation)
        started = False
        for command, seen in commands:
            if not self.circles.lets_go(command, seen.view):
                continue
            self.told(command)
            started |= await self.commands.start(command, seen.view, seen.tables)
        return started

    async def _commands(
        self, method: Method, outcome: Outcome, situation: Situation
    ) -> list[tuple[Command, Situation]]:
        """What is to be started, each with the situation in which it was found or validated."""
        if not outcome.moves:
            return []
        commands, refused = commands_of(situation, outcome.moves, Names())
        self._tell_tried(refused, situation)
        if method not in VALIDATED:
            return [(command, situation) for command in commands]
        for command in commands:
            self._tell_candidates(command, situation, partial(telling.candidate, command))
        await self._clock.sleep(DELAY / SECOND)
        later = self._situation(await self._tables())
        checked = [self._validated(command, later) for command in commands]
        return [(command, later) for command in checked if command is not None]

    def _validated(self, command: Command, later: Situation) -> Command | None:
        """The command as it still holds after its delay."""
        nominated = self._intents.nominated(later.view)
        if command.method is Method.EMPTINESS:
            left, _ = still_empty(command, later, nominated)
            gone = tuple(candidate for candidate in command.candidates if candidate.node in left)
            saves = sum(candidate.price_per_hour for candidate in gone)
            return replace(command, candidates=gone, savings_per_hour=saves) if gone else None
        failure = still_holds(command, later, nominated)
        if failure is None:
            return command
        why = str(failure)
        self._tell_candidates(command, later, lambda node: telling.rejected(command, node, why))
        return None

    def _situation(self, tables: Tables) -> Situation:
        """The cluster as it is now."""
        whole = self._observed.informer.view
        view = reported_to_disruption(replace(whole, marked=self._intents.marked), is_provided)
        busy = Busy(self.commands.nodes, self._intents.nominated(view))
        now = self._clock.now()
        haste = Haste(self._deadline(MULTI_NODE), self._deadline(SINGLE_NODE), self._unreached)
        options = replace(self._options, now=now)
        return Situation(view, tables, options, busy=busy, haste=haste, memory=self._memory)

    def _deadline(self, limit: int) -> Callable[[], bool]:
        """When a search has to end that begins with the first question."""
        began: list[int] = []

        def is_over() -> bool:
            began[:] = began or [self._clock.now()]
            return self._clock.now() - began[0] >= limit

        return is_over

    async def _clean(self, situation: Situation) -> bool:
        """Takes away what commands left behind that do not run; False where somebody was faster."""
        view = reported_to_disruption(replace(self._observed.informer.view, marked=self._intents.marked), is_provided)
        cleaned = overlay.cleaned(view, self.commands.nodes)
        try:
            for node, other in zip(view.nodes, cleaned.nodes, strict=True):
                if node is not other:
                    await self._objects.write(node, other)
            for claim, silent in zip(view.node_claims, cleaned.node_claims, strict=True):
                if claim is not silent:
                    await self._objects.write(claim, silent)
        except (Conflict, NotFound):
            return False
        self.commands.is_unclean = False
        return True

    def _renewed(self) -> int:
        """The moment of the last change, or this one where that was long ago (2.3)."""
        if self._clock.now() - self._stamp >= ANEW:
            self._stamp = self._clock.now()
        return self._stamp

    def _is_idle(self, stamp: int, changes: int) -> bool:
        """Whether a pass would find nothing: nobody may be given up, or all is as when nothing was found."""
        if self.commands.is_unclean:
            return False
        if self._idle == (stamp, changes):
            return True
        changed, self._changed = self._changed, {}
        for name in changed:
            claim = self._observed.claim(name)
            held = claim.status.conditions if claim is not None else ()
            if any(conditions.is_true(held, type) for type in (CONSOLIDATABLE, DRIFTED)):
                self._marked[name] = None
            else:
                self._marked.pop(name, None)
        return not self._marked and self._clock.now() - self._looked < TELLS_EVERY

    def _is_timed(self, situation: Situation) -> bool:
        """Whether something may change by time alone: windows of budgets, nominations, pods protected for a while."""
        if situation.busy.nominated or self._marked_drifted():
            return True
        return any(budget.schedule for pool in situation.pools.values() for budget in budgets.budgets_of(pool))

    def _marked_drifted(self) -> bool:
        claims = (self._observed.claim(name) for name in self._marked)
        return any(it is not None and conditions.is_true(it.status.conditions, DRIFTED) for it in claims)

    def _tell_tried(self, tried: tuple[Tried, ...] | list[Tried], situation: Situation) -> None:
        states = {state.name: state for state in situation.view.state_nodes} if tried else {}
        blocked: dict[tuple[str, str], None] = {}
        for one in tried:
            state = states[one.node]
            if one.reason is Kept.BUDGET:
                blocked[state.pool, _REASONS[one.method]] = None
            for _, told in telling.tried(one, state):
                self._tell(state.node, state.claim, told)
        census = budgets.census(situation.view.state_nodes, situation.busy.in_command) if blocked else {}
        for name, reason in blocked:
            pool = self._observed.pool(name)
            count = census.get(name, budgets.Census()).nodes
            if pool is not None and count and not budgets.limit(pool, count, reason, situation.now):
                self._events.tell(pool, telling.no_budget(reason))

    def _tell_candidates(self, command: Command, situation: Situation, told: Callable[[str], Told]) -> None:
        if command.method is Method.EMPTINESS:
            return
        for candidate in command.candidates:
            claim, node = self._observed.claim(candidate.node_claim), self._observed.node(candidate.node)
            self._tell(node, claim, told(candidate.node))

    def _tell(self, node: Node | None, claim: NodeClaim | None, told: Told) -> None:
        for about in (node, claim):
            if about is not None:
                self._events.tell(about, told)

    def _note(self, change: Transition) -> None:
        if change.kind is CLAIM:
            one = change.after or change.before
            assert one is not None
            self._changed[one.metadata.name] = None
        if _may_make_possible(change):
            self._stamp = self._clock.now()


_REASONS: Final = {
    Method.EMPTINESS: EMPTY,
    Method.STATIC_DRIFT: FOR_DRIFT,
    Method.DRIFT: FOR_DRIFT,
    Method.MULTI_NODE: UNDERUTILIZED,
    Method.SINGLE_NODE: UNDERUTILIZED,
}


def _may_make_possible(change: Transition) -> bool:
    """Whether something may be consolidated after a change that could not be before (2.3)."""
    before, after = change.before, change.after
    if change.kind is POD:
        if after is None:
            return before is not None and bool(before.node_name)
        return bool(after.node_name) and (before is None or not before.node_name)
    if change.kind is NODE:
        return before is None or after is None or _is_initialized(before) != _is_initialized(after)
    if change.kind is CLAIM:
        return before is None or after is None or _is_deleted(before) != _is_deleted(after)
    return False


def _is_initialized(node: Object) -> bool:
    return node.metadata.labels.get(INITIALIZED) == "true"


def _is_deleted(claim: Object) -> bool:
    return bool(claim.metadata.deletion_timestamp)
