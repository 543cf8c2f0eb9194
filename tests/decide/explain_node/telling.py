"""Nodes explained, and their stories put to the proof: on the manifests themselves, and by the plan of the pass."""

from typing import Any

import msgspec

from baseload.catalog import kwok
from baseload.catalog.columns import InstanceTypes
from baseload.decide.disrupt.account import account
from baseload.decide.disrupt.decide import disrupt, not_synced
from baseload.decide.disrupt.moves import Move
from baseload.decide.disrupt.multi_node import multi_node
from baseload.decide.disrupt.situation import Situation
from baseload.decide.disrupt.static_drift import static_drift
from baseload.decide.disrupt.step import step
from baseload.decide.explain_node.story import story
from baseload.decide.lifecycle.markers import is_consolidatable
from baseload.decide.provision.options import Options
from baseload.kube import manifests
from baseload.kube.manifests import Manifests
from baseload.kube.types import karpenter
from baseload.model.view import View
from baseload.plan.disrupt import Kept, Method
from baseload.plan.node_story import NodeStory, Verdict
from baseload.plan.provision import Fix
from baseload.values import instant
from baseload.world import options
from baseload.world.files import view_of
from tests.decide.explain_node.building import CATALOG, NOON, POOL_KEY, Object

_API_VERSION = {
    "NodePool": "karpenter.sh/v1",
    "NodeClaim": "karpenter.sh/v1",
    "PodDisruptionBudget": "policy/v1",
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
}


class Told:
    """An input and the stories of its nodes."""

    def __init__(self, objects: list[Object], catalog: list[Object], settings: Object) -> None:
        self.objects = [{"apiVersion": _API_VERSION.get(one["kind"], "v1"), **one} for one in objects]
        self.types: InstanceTypes = kwok.read(msgspec.json.encode(catalog), "catalog.json")
        self.settings: Object = {"now": NOON, **settings}
        self.manifests: Manifests = _loaded(self.objects)
        self.view: View = view_of(self.manifests)
        self.plan = disrupt(self.view, self.tables(self.view), self.options)

    @property
    def options(self) -> Options:
        return options.of_tree(self.settings, "options.yaml").options

    def tables(self, view: View) -> dict[str, InstanceTypes]:
        return {pool.metadata.name: self.types for pool in view.node_pools}

    def of(self, node: str) -> NodeStory:
        told = story(node, self.view, self.tables(self.view), self.options)
        assert told is not None
        return told

    def stories(self) -> list[NodeStory]:
        return [self.of(state.name) for state in self.view.state_nodes]

    # The proof

    def is_free(self, node: str, fixes: tuple[Fix, ...] = (), now: str = "") -> bool:
        """Whether some method would take the node, with these fields changed or at that moment."""
        settings = {**self.settings, "now": now or self.settings["now"]}
        gates = {f.path.removeprefix("featureGates."): f.to for f in fixes if f.object == "Options"}
        settings["featureGates"] = {**settings.get("featureGates", {}), **gates}
        changed = _changed(self.objects, [fix for fix in fixes if fix.object != "Options"])
        touched = {fix.object for fix in fixes}
        touched |= {_ref(one) for one in changed if one["kind"] == "NodePool"} if now else set()
        brought = [_brought_up_to_date(one, changed, settings["now"], touched) for one in changed]
        view = view_of(_loaded(brought))
        decided = options.of_tree(settings, "options.yaml").options
        return _is_free(view, self.tables(view), decided, node)

    def falsehoods(self) -> list[str]:
        """Everything that stories claim and that the plan or deciding again does not bear out."""
        return [fault for told in self.stories() for fault in self.of_one(told)]

    def of_one(self, told: NodeStory) -> list[str]:
        return [*self._against_the_plan(told), *self._of_change(told)]

    def _against_the_plan(self, told: NodeStory) -> list[str]:
        taken = [c for c in self.plan.commands if told.node in [one.node for one in c.candidates]]
        found = []
        if bool(taken) is not (told.taken is not None or told.forced is not None):
            found.append(f"{told.node}: the plan says {taken}, the story {told.taken}")
        reasons = {one.wall.reason for one in told.methods if one.wall is not None}
        found += [
            f"{told.node}: skipped for {skipped.reason}, the story has {reasons}"
            for skipped in self.plan.skipped
            if skipped.node == told.node and skipped.reason not in reasons | {Kept.STATIC}
        ]
        for tried in self.plan.tried:
            if tried.node == told.node and tried.method is not Method.MULTI_NODE:
                [method] = [one for one in told.methods if one.method is tried.method]
                if method.verdict is Verdict.LATER and tried.reason is Kept.BUDGET:
                    continue  # other nodes use up what its budgets allow
                if method.wall is None or method.wall.reason is not tried.reason:
                    found.append(f"{told.node}: {tried.method} kept it for {tried.reason}, the story says {method}")
        return found

    def _of_change(self, told: NodeStory) -> list[str]:
        node = told.node
        open_now = any(one.verdict in (Verdict.TAKEN, Verdict.LATER) for one in told.methods)
        found = []
        if told.forced is None and self.is_free(node) is not open_now:
            found.append(f"{node}: that it could go is {open_now} in the story")
        if open_now and (told.change or told.walls or told.wait):
            found.append(f"{node}: it could go, and the story has a wall or a change")
        if not open_now and told.forced is None and not told.walls:
            found.append(f"{node}: neither a way out nor a wall")
        if told.change is not None:
            fixes = told.change.fixes
            if not self.is_free(node, fixes):
                found.append(f"{node}: {fixes} does not free it")
            found += [
                f"{node}: {fix} need not be among {fixes}"
                for fix in fixes
                if len(fixes) > 1 and self.is_free(node, tuple(one for one in fixes if one is not fix))
            ]
        seen = [(w.reason, w.pods, tuple((rule.object, rule.path) for rule in w.rules)) for w in told.walls]
        if len(set(seen)) < len(seen):
            found.append(f"{node}: a wall is told twice: {seen}")
        if told.change is not None and len(told.change.fixes) > 1 and len(seen) < 2 and not _is_of_parts(told):
            found.append(f"{node}: several fields are to change, and one rule of one wall is told")
        if told.wait is not None and not self.is_free(node, now=told.wait.until):
            found.append(f"{node}: it is not free at {told.wait.until}")
        return found


def _is_free(view: View, tables: dict[str, InstanceTypes], decided: Options, node: str) -> bool:
    """By the accounts of the methods, and by what the methods that take several nodes at once decide."""
    situation = Situation(step(view, tables, decided).view, tables, decided)
    told = account(situation, node)
    if told is None or told.candidate is None or not_synced(situation.view) is not None:
        return False
    moves = [*static_drift(situation).moves, *multi_node(situation).moves]
    moves += [one for one in told.attempts if isinstance(one, Move) and told.allowance[one.method] > 0]
    if Method.EMPTINESS not in told.passed_over and told.allowance[Method.EMPTINESS] > 0:
        return True
    ours = [move for move in moves if node in [one.name for one in move.candidates]]
    return any(not any(claim.template.name in situation.over_limits for claim in move.claims) for move in ours)


def _is_of_parts(told: NodeStory) -> bool:
    """Whether one wall has several rules or pods."""
    return len(told.walls[0].rules) > 1 or len(told.walls[0].pods) > 1


def _changed(objects: list[Object], fixes: list[Fix]) -> list[Object]:
    """The objects with fields set as a user would; what has no path is deleted."""
    gone = {fix.object for fix in fixes if not fix.path}
    held = _loaded([one for one in objects if _ref(one) not in gone])
    for fix in fixes:
        if fix.path:
            held = held.edited(fix.object, fix.path, fix.to)
    return [msgspec.json.decode(one.json) for one in held.found]


def _ref(one: Object) -> str:
    space = one["metadata"].get("namespace")
    return f"{one['kind']} {space}/{one['metadata']['name']}" if space else f"{one['kind']} {one['metadata']['name']}"


def _brought_up_to_date(one: Object, objects: list[Object], now: str, touched: set[str]) -> Object:
    """What controllers would write: the allowance of a budget, and the marks of the claims of a pool."""
    if one["kind"] == "PodDisruptionBudget" and _ref(one) in touched:
        return {**one, "status": _allowing(one, objects)}
    if one["kind"] == "NodeClaim":
        name = one["metadata"].get("labels", {}).get(POOL_KEY)
        pools = (o for o in objects if o["kind"] == "NodePool" and _ref(o) in touched)
        pool = next((pool for pool in pools if pool["metadata"]["name"] == name), None)
        return one if pool is None or "replicas" in pool["spec"] else _marked(one, pool, now)
    return one


def _allowing(budget: Object, objects: list[Object]) -> Object:
    """The status of a budget by its spec; where it has no numbers, those of the pods that it selects."""
    status, spec = dict(budget.get("status", {})), budget["spec"]
    if not status.get("expectedPods"):
        labels = spec["selector"].get("matchLabels", {}).items()
        pods = [o for o in objects if o["kind"] == "Pod" and labels <= o["metadata"].get("labels", {}).items()]
        ours = [pod for pod in pods if pod["metadata"]["namespace"] == budget["metadata"]["namespace"]]
        unready = [p for p in ours if {"type": "Ready", "status": "False"} in p.get("status", {}).get("conditions", [])]
        status |= {"expectedPods": len(ours), "currentHealthy": len(ours) - len(unready)}
    expected = status["expectedPods"]
    if "maxUnavailable" in spec:
        desired = expected - _scaled(spec["maxUnavailable"], expected)
    else:
        desired = _scaled(spec.get("minAvailable", expected), expected)
    return {**status, "disruptionsAllowed": max(0, status["currentHealthy"] - max(0, desired))}


def _marked(claim: Object, pool: Object, now: str) -> Object:
    typed = msgspec.convert(claim, karpenter.NodeClaim), msgspec.convert(pool, karpenter.NodePool)
    said = [c for c in claim["status"]["conditions"] if c["type"] != "Consolidatable"]
    if is_consolidatable(*typed, instant.parse(now)):
        said.append({"type": "Consolidatable", "status": "True", "lastTransitionTime": now})
    return {**claim, "status": {**claim["status"], "conditions": said}}


def _scaled(held: int | str, expected: int) -> int:
    if isinstance(held, str) and held.endswith("%"):
        return -(-expected * int(held[:-1]) // 100)
    return int(held)


def _loaded(objects: list[Object]) -> Manifests:
    data = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": objects})
    return manifests.load(["-"], stdin=lambda: data, validate="warn")


def told(*objects: Object | list[Object], catalog: list[Object] = CATALOG, **settings: Any) -> Told:
    """A few objects, of whose nodes every claim is proved at once."""
    flat = [one for listed in objects for one in (listed if isinstance(listed, list) else [listed])]
    found = Told(flat, catalog, settings)
    assert found.falsehoods() == []
    return found
