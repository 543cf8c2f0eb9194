"""Launches nodes for pods without a place: batches of them, the decision, and a NodeClaim for each planned one.

Pods that stay without a place ask again every 10 s. Those that asked in one second do so together, as one: that a
thousand of them are waiting costs no more than that one is. A pass that would see what the last one saw is left out;
a pass that cannot be made yet waits for the next that asks.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from baseload.act.objects import Tree
from baseload.act.offerings import Offerings
from baseload.catalog.columns import InstanceTypes
from baseload.cloud.errors import CloudError
from baseload.control.batcher import Batcher
from baseload.control.informer import Transition
from baseload.control.intents import Intents
from baseload.control.means import Means
from baseload.control.observed import NODE, POD, is_provided
from baseload.control.telling import Telling
from baseload.decide.fit.engine import MOST_TOLD
from baseload.decide.lifecycle import telling
from baseload.decide.lifecycle.changed import is_same_taint
from baseload.decide.lifecycle.creation import claim_of
from baseload.decide.lifecycle.names import DISRUPTED
from baseload.decide.lifecycle.reported import has_work, is_given_up, reported
from baseload.decide.provision.decide import provision
from baseload.decide.provision.hope import Hope, hope
from baseload.decide.provision.in_vain import NOBODY, in_vain
from baseload.decide.provision.memory import Memory
from baseload.kube.client.errors import ApiError
from baseload.kube.types.karpenter import NodeClaim
from baseload.model.view import View
from baseload.plan.provision import ProvisionPlan
from baseload.values.instant import SECOND
from baseload.values.label import CORE_WELL_KNOWN

AGAIN: Final = 10
"""Seconds after which a pod without a place asks again"""
ANEW: Final = 15 * 60 * SECOND
"""So long after the last one that did, a pass looks at everybody, those in vain too, as long as pods ask for one"""
ANYTHING: Final = Hope(frozenset(), None)
_OVER: Final = ("Succeeded", "Failed")
_OF_NO_ACCOUNT: Final = ("VolumeAttachment", "PodDisruptionBudget")
"""Kinds that no place of a pod depends on"""
_WORKLOADS: Final = ("Deployment", "ReplicaSet", "StatefulSet")
"""Nor on these, but where CapacityBuffers follow them"""
_Key = tuple[str, str]


class Provisioner:
    """The controller of pods without a place."""

    def __init__(self, means: Means, offerings: Offerings, intents: Intents) -> None:
        observed = self._observed = means.observed
        self._objects, self._offerings, settings = means.objects, offerings, means.settings
        self._settings, self._clock = settings, means.clock
        self._told = Telling(observed, means.events)
        self._batcher = Batcher(self._clock, idle=settings.batch_idle, longest=settings.batch_longest)
        self._waiting: dict[_Key, int] = {}  # pod or node -> its bucket
        self._buckets: list[dict[_Key, None]] = [{} for _ in range(AGAIN)]
        self._bell = self._clock.bell()
        counts_workloads = settings.options.gate("CapacityBuffer")
        self._of_no_account = _OF_NO_ACCOUNT if counts_workloads else (*_OF_NO_ACCOUNT, *_WORKLOADS)
        self._is_due = True  # something changed that the next pass may see
        self._intents, self._marked = intents, intents.marked  # and the marks that the last pass saw
        self._seen: dict[str, InstanceTypes] = {}
        self._hope = ANYTHING
        self._in_vain = NOBODY
        self._anew = 0  # when a pass looks at everybody, although nothing changed
        self._memory = Memory()
        self.passes = 0  # that were made
        self.plan: ProvisionPlan | None = None
        self.told: Callable[[ProvisionPlan], None] = lambda _: None
        self.launching: Callable[[ProvisionPlan], None] = lambda _: None
        """Both are called with each plan before anything of it is done; they may only take a note"""
        self.gives_reasons = False
        """Whether plans say of every target why it did not take a pod, for those who read them"""
        observed.informer.listen(self._note)

    async def run(self) -> None:
        """Works for ever."""
        await self._clock.together(self._provision(), self._ask_again())

    async def _provision(self) -> None:
        while True:
            await self._batcher.window()
            with suppress(ApiError, CloudError):
                await self.make_pass()

    async def make_pass(self) -> bool:
        """Plans and creates; False where nothing can be decided yet."""
        tables = await self.tables()
        now = self._clock.now()
        self._is_due = self._is_due or self._intents.marked != self._marked
        if not self._is_due and _are_same(tables, self._seen) and now < self._anew:
            self._told.again(now)
            return True
        view = self._view(tables, now)
        if has_work(view) and any(not claim.status.provider_id for claim in view.node_claims):
            return False
        self._marked = self._intents.marked
        self._is_due, self._seen, self._hope = False, tables, replace(ANYTHING, pods=self._in_vain.pods)
        if not has_work(view):
            self._hope = Hope(self._in_vain.pods, frozenset())
            return True
        options = replace(self._settings.options, now=now)
        most = MOST_TOLD if self.gives_reasons else 0
        plan = self.plan = provision(view, tables, options, most_reasons=most, memory=self._memory)
        self.passes += 1
        self.told(plan)
        self.launching(plan)
        self._told.tell(plan, view)
        self._intents.nominate((it.node for it in plan.placements if it.node is not None), view)
        self._look_ahead(view, plan, tables)
        for planned in plan.node_claims:
            pool = self._observed.pool(planned.node_pool)
            if pool is not None and not pool.metadata.deletion_timestamp:
                well_known = CORE_WELL_KNOWN | tables[planned.node_pool].well_known
                await self._create(claim_of(planned, pool, well_known), planned.pods)
        return True

    def _view(self, tables: Mapping[str, InstanceTypes], now: int) -> View:
        """What a pass is made on: the cluster, less the pods in vain, whom it sees again now and then."""
        whole = self._observed.informer.view
        if self._intents.marked:
            whole = replace(whole, marked=self._intents.marked)
        if now >= self._anew or not self._in_vain.holds(whole, tables):
            self._in_vain, self._anew = NOBODY, now + ANEW
        seen = self._in_vain.left_out_of(whole) if self._in_vain.pods else whole
        return reported(seen, is_provided, lambda pod: (pod.metadata.namespace, pod.metadata.name) in self._waiting)

    def _look_ahead(self, view: View, plan: ProvisionPlan, tables: Mapping[str, InstanceTypes]) -> None:
        """Notes who waits in vain, and what those who wait can hope for."""
        spreads = bool(self._settings.options.default_spread)
        left = hope(view, plan, spreads_by_default=spreads)
        if not spreads:
            self._in_vain = in_vain(self._observed.informer.view, plan, tables, self._in_vain)
        nodes = None if plan.node_claims else left.nodes
        self._hope = Hope(left.pods | self._in_vain.pods, nodes)

    async def _create(self, tree: Tree, pods: tuple[str, ...]) -> None:
        """A claim; where it cannot be created others are, and the next pass plans for its pods again."""
        try:
            name = await self._objects.create(NodeClaim, tree)
        except ApiError:
            self._is_due = True
        else:
            self._told.nominate(pods, telling.on_new(name))

    async def tables(self) -> dict[str, InstanceTypes]:
        """NodePool -> the types that it may launch now."""
        found: dict[str, InstanceTypes] = {}
        for pool in self._observed.pools():
            ref = pool.spec.template.spec.node_class_ref
            node_class = self._observed.node_class(ref.name)
            if is_provided(ref) and node_class is not None:
                found[pool.metadata.name] = (await self._offerings.choice(node_class)).table
        return found

    async def _ask_again(self) -> None:
        while True:
            if not self._waiting:
                await self._bell.wait(3600.0)
                continue
            now = self._clock.now()
            await self._clock.sleep((SECOND - now % SECOND) / SECOND)
            second = self._clock.now() // SECOND
            if self._buckets[second % AGAIN]:
                self._batcher.put(second)

    def _note(self, change: Transition) -> None:
        self._is_due = self._is_due or (change.kind is not POD and change.kind.name not in self._of_no_account)
        if change.kind is POD:
            one = change.after or change.before
            assert one is not None
            pod = self._observed.pod(*change.key) if change.after and not change.after.node_name else None
            is_waiting = pod is not None and is_given_up(pod)
            self._is_due = self._is_due or self._makes_a_difference(change, is_waiting=is_waiting)
            self._place(change.key, one.uid, is_waiting=is_waiting)
        elif change.kind is NODE:
            one = change.after or change.before
            assert one is not None
            node = self._observed.node(one.metadata.name) if change.after else None
            is_disrupted = node is not None and any(is_same_taint(taint, DISRUPTED) for taint in node.spec.taints)
            self._place(change.key, one.uid, is_waiting=is_disrupted)

    def _makes_a_difference(self, change: Transition, *, is_waiting: bool) -> bool:
        """Whether what became of a pod may change what the last pass decided."""
        before, after = change.before, change.after
        if is_waiting:
            assert after is not None
            return after.uid not in self._hope.pods
        if self._hope.nodes is None:
            return True
        if before is None or not before.node_name or before.phase in _OVER:
            return False  # one that comes takes room, and gives none
        is_gone = after is None or after.phase in _OVER or after.uid != before.uid
        return is_gone and self._hope.is_met_by(before.node_name)

    def _place(self, key: _Key, uid: str, *, is_waiting: bool) -> None:
        """Whether a pod or a node asks for passes from now on."""
        held = self._waiting.get(key)
        if not is_waiting:
            if held is not None:
                del self._waiting[key], self._buckets[held][key]
            return
        if held is None:
            bucket = self._waiting[key] = self._clock.now() // SECOND % AGAIN
            self._buckets[bucket][key] = None
            self._bell.ring()
        self._batcher.put(uid)


def _are_same(tables: Mapping[str, InstanceTypes], seen: Mapping[str, InstanceTypes]) -> bool:
    """Whether these are the very tables of a pass before."""
    return tables.keys() == seen.keys() and all(table is seen[name] for name, table in tables.items())
