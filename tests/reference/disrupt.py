"""The disruption pass read literally (disruption and lifecycle §8 to §20): commands on plain objects, at one moment.

Ties go by name, as the program breaks them; Karpenter leaves them to chance. Budgets have no schedules here.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction

from . import algebra, catalogue, cluster, moving, pools, resources, selecting
from .algebra import CAPACITY_TYPE, HOSTNAME, INSTANCE_TYPE, NODEPOOL, ZONE, Manifest, Requirements
from .catalogue import InstanceType
from .cluster import StateNode

NONE = Fraction(10**30)


@dataclass(frozen=True)
class Command:
    """`launched`: the types of each replacement, in the order in which they are launched."""

    method: str
    nodes: tuple[str, ...]
    launched: tuple[tuple[str, ...], ...] = ()
    places: tuple[tuple[str, str], ...] = ()


@dataclass
class Option:
    """The one new node of a consolidation, as it is narrowed."""

    requirements: Requirements
    types: list[InstanceType]


class Pass:
    """One pass."""

    def __init__(self, objects: list[Manifest], catalog: list[Manifest], options: Manifest) -> None:
        self.objects = cleaned(objects)
        self.catalog, self.options, self.now = catalog, options, options["now"]
        self.known = catalogue.well_known(catalog)
        self.types = {t.name: t for t in catalogue.types_of(catalog)}
        self.nodes = sorted(cluster.state_nodes(self.objects), key=lambda n: n.name)
        self.pools = {o["metadata"]["name"]: o for o in self.objects if o["kind"] == "NodePool"}
        self.guards = [o for o in self.objects if o["kind"] == "PodDisruptionBudget"]

    def run(self) -> list[Command]:
        """§10.4, §10.5."""
        if cluster.out_of_sync(self.objects):
            return []
        for method in (self.emptiness, self.static_drift, self.drift, self.multi_node, self.single_node):
            try:
                commands = method()
            except NoPool:
                return []
            if commands:
                return commands
        return []

    # §8

    def candidates(self, *, eventual: bool) -> list[StateNode]:
        return [node for node in self.nodes if self.node_may_go(node) and self.pods_may_go(node, eventual=eventual)]

    def node_may_go(self, node: StateNode) -> bool:
        if node.claim is None or node.node is None:
            return False
        if not node.initialized or node.marked_for_deletion:
            return False
        if annotation(node.node, cluster.DO_NOT_DISRUPT) == "true":
            return False
        return node.pool is not None and node.pool in self.pools and bool(self.types)

    def pods_may_go(self, node: StateNode, *, eventual: bool) -> bool:
        assert node.claim is not None
        if eventual and node.claim["spec"].get("terminationGracePeriod"):
            return True
        return not any(active(p) and cluster.held(p, self.now) for p in node.bound) and not any(
            self.guarded(pod) for pod in node.bound
        )

    def guarded(self, pod: Manifest) -> bool:
        """§7.2."""
        if not active(pod) or selecting.untolerated(pod, [cluster.DISRUPTED]) is None:
            return False
        if selecting.owned_by(pod, "v1", "Node") or cluster.held(pod, self.now):
            return False
        matching = [
            guard
            for guard in self.guards
            if guard["metadata"]["namespace"] == pod["metadata"]["namespace"]
            and selecting.selects(selecting.selector_of(guard["spec"].get("selector")), selecting.labels_of(pod))
        ]
        if len(matching) > 1:
            return True
        return any(
            not cluster.lets_unhealthy_go(guard, pod) and not guard["status"]["disruptionsAllowed"]
            for guard in matching
        )

    # §9

    def to_move(self, node: StateNode) -> list[Manifest]:
        """Reschedulable pods (§6)."""
        return [
            pod
            for pod in node.bound
            if not selecting.owned_by(pod, "apps/v1", "DaemonSet")
            and not selecting.owned_by(pod, "v1", "Node")
            and (active(pod) or (selecting.is_terminating(pod) and selecting.owned_by(pod, "apps/v1", "StatefulSet")))
        ]

    def move_cost(self, node: StateNode) -> float:
        return 1.0 + sum(max(0.0, eviction_cost(pod)) for pod in self.to_move(node))

    def price(self, node: StateNode) -> Fraction:
        """§9.5."""
        found = self.types.get(node.labels.get(INSTANCE_TYPE, ""))
        for offering in found.offerings if found else ():
            wanted = (node.labels.get(ZONE), node.labels.get(CAPACITY_TYPE))
            if (offering.zone, offering.capacity_type) == wanted:
                return offering.price
        return Fraction(0)

    def ranked(self, nodes: Iterable[StateNode]) -> list[StateNode]:
        return sorted(nodes, key=lambda n: (-float(self.price(n)) / self.move_cost(n), n.name))

    def is_empty(self, node: StateNode) -> bool:
        return self.move_cost(node) <= 1.0

    # §11

    def allowances(self, reason: str) -> dict[str, int]:
        found = {}
        for name, pool in self.pools.items():
            ours = [n for n in self.nodes if n.pool == name and n.claim is not None and n.initialized]
            ours = [n for n in ours if not is_true(n.claim, "InstanceTerminating")]
            gone = [n for n in ours if not is_true(n.node, "Ready") or n.marked_for_deletion]
            allowed = 2**31 - 1
            for budget in (pool["spec"].get("disruption") or {}).get("budgets", [{"nodes": "10%"}]):
                if not budget.get("reasons") or reason in budget["reasons"]:
                    allowed = min(allowed, amount(budget.get("nodes", "10%"), len(ours)))
            found[name] = max(0, allowed - len(gone))
        return found

    def within(self, nodes: Iterable[StateNode], reason: str) -> list[StateNode]:
        """§11.4."""
        left, taken = self.allowances(reason), []
        for node in nodes:
            if left[str(node.pool)] > 0:
                left[str(node.pool)] -= 1
                taken.append(node)
        return taken

    # §12

    def disruption(self, node: StateNode, key: str, default: str) -> str:
        return str((self.pools[str(node.pool)]["spec"].get("disruption") or {}).get(key, default))

    def consolidatable(self, node: StateNode) -> bool:
        never = self.disruption(node, "consolidateAfter", "0s") == "Never"
        return not never and not self.is_static(node) and is_true(node.claim, "Consolidatable")

    def is_static(self, node: StateNode) -> bool:
        return pools.is_static(self.pools[str(node.pool)])

    def shut(self) -> list[str]:
        """§12.2: the nodes inside their window."""
        taking_part = {p["metadata"]["name"] for p in pools.dynamic_pools(self.objects, self.known)}
        return [n.name for n in self.nodes if n.pool in taking_part and n.claim is not None and self.in_window(n)]

    def in_window(self, node: StateNode) -> bool:
        assert node.claim is not None
        span = cluster.seconds(self.disruption(node, "consolidateAfter", "0s"))
        initialized = selecting.condition(node.claim, "Initialized")
        if not span or not is_true(node.claim, "Initialized") or initialized is None:
            return False
        since = node.claim["status"].get("lastPodEventTime") or initialized["lastTransitionTime"]
        return cluster.instant(self.now) - cluster.instant(since) < timedelta(seconds=float(span))

    # §13

    def simulate(self, nodes: Sequence[StateNode], *, windows: bool) -> moving.Simulated:
        shut = self.shut() if windows else []
        found = moving.simulate(self.objects, self.catalog, self.options, [n.name for n in nodes], shut)
        if found is None:
            raise NoPool
        return found

    def command(
        self, method: str, nodes: Sequence[StateNode], found: moving.Simulated, launched: list[list[InstanceType]]
    ) -> list[Command]:
        """None is started where a pool is above its limits (§13)."""
        for claim in found.claims:
            limits = resources.amounts(claim.template.pool["spec"].get("limits"))
            ours = (n.capacity for n in self.nodes if n.pool == claim.template.name and not n.marked_for_deletion)
            used = resources.total_of(ours)
            if any(used.get(name, 0) > limit for name, limit in limits.items()):
                raise NoPool
        places = tuple(sorted(found.places.items()))
        types = tuple(tuple(t.name for t in one) for one in launched)
        return [Command(method, tuple(n.name for n in nodes), types, places)]

    # §14

    def consolidated(self, nodes: Sequence[StateNode], found: moving.Simulated) -> Option | str | None:
        """What the nodes become: one new node, "nothing", or None where it is no move."""
        if found.failed or len(found.claims) > 1:
            return None
        if not found.claims:
            return "nothing"
        claim = found.claims[0]
        final = {key: r for key, r in claim.requirements.items() if key != HOSTNAME}
        option = Option(final, claim.types)
        whole = sum((self.price(n) for n in nodes), Fraction(0))
        open_to = final.get(CAPACITY_TYPE, algebra.exists(CAPACITY_TYPE))
        spot, on_demand = algebra.has(open_to, "spot"), algebra.has(open_to, "on-demand")
        if spot and all(n.labels.get(CAPACITY_TYPE) == "spot" for n in nodes):
            return self.spot_to_spot(option, whole, single=len(nodes) == 1)
        if not self.cheaper(option, whole):
            return None
        if spot and on_demand:
            self.spot_alone(option)
        return option

    def spot_to_spot(self, option: Option, whole: Fraction, *, single: bool) -> Option | None:
        """§14.1."""
        if not (self.options.get("featureGates") or {}).get("SpotToSpotConsolidation", False):
            return None
        self.spot_alone(option)
        option.types = [t for t in option.types if catalogue.open_offerings(t, option.requirements, self.known)]
        if not self.cheaper(option, whole):
            return None
        if not single:
            return option
        if len(option.types) < 15:
            return None
        ordered = pools.by_price(option.types, option.requirements, self.known)
        count = 15
        while pools.unmet_min_values(ordered[:count], option.requirements):
            count += 1
        option.types = ordered[:count]
        return option

    def spot_alone(self, option: Option) -> None:
        narrowed = [algebra.requirement(CAPACITY_TYPE, "In", ["spot"])]
        option.requirements = algebra.add(option.requirements, narrowed)

    def cheaper(self, option: Option, bound: Fraction) -> bool:
        """§9.7; whether any type is left and minValues hold."""
        option.types = [t for t in option.types if self.worst(t, option.requirements) < bound]
        return bool(option.types) and not pools.unmet_min_values(option.types, option.requirements)

    def worst(self, t: InstanceType, wanted: Requirements) -> Fraction:
        offered = catalogue.open_offerings(t, wanted, self.known)
        for kind in ("reserved", "spot", "on-demand"):
            prices = [o.price for o in offered if o.capacity_type == kind]
            if prices:
                return max(prices)
        return NONE

    def savings(self, nodes: Sequence[StateNode], option: Option | str) -> Fraction:
        """§14.2."""
        whole = sum((self.price(n) for n in nodes), Fraction(0))
        if isinstance(option, str):
            return whole
        first = pools.by_price(option.types, option.requirements, self.known)[0]
        return whole - catalogue.price(first, option.requirements, self.known)

    def in_order(self, option: Option) -> list[InstanceType]:
        return pools.by_price(option.types, option.requirements, self.known)

    # §15 to §19

    def emptiness(self) -> list[Command]:
        empty = [n for n in self.candidates(eventual=False) if self.is_empty(n) and self.consolidatable(n)]
        taken = self.within(self.ranked(empty), "Empty")
        return [Command("Emptiness", tuple(n.name for n in taken))] if taken else []

    def drifted(self, *, static: bool) -> list[StateNode]:
        ours = (n for n in self.candidates(eventual=True) if self.is_static(n) is static)
        return [n for n in ours if is_true(n.claim, "Drifted")]

    def static_drift(self) -> list[Command]:
        commands = []
        for name, pool in sorted(self.pools.items()):
            ours = [n for n in self.drifted(static=True) if n.pool == name]
            claims = [
                o for o in self.objects if o["kind"] == "NodeClaim" and selecting.labels_of(o).get(NODEPOOL) == name
            ]
            going = [c for c in claims if selecting.is_terminating(c) or is_true(c, "InstanceTerminating")]
            allowed = self.allowances("Drifted")[name]
            if not ours or allowed == 0 or len(claims) - len(going) > pool["spec"]["replicas"]:
                continue
            wanted = min(allowed, len(ours))
            limit = resources.amounts(pool["spec"].get("limits")).get("nodes")
            granted = wanted if limit is None else max(0, min(wanted, limit // resources.UNIT - len(claims)))
            commands += [Command("StaticDrift", (n.name,)) for n in ours[:granted]]
        return commands

    def drift(self) -> list[Command]:
        def turn(node: StateNode) -> tuple[bool, str, str]:
            assert node.claim is not None
            drifted = selecting.condition(node.claim, "Drifted")
            assert drifted is not None
            return bool(self.to_move(node)), drifted["lastTransitionTime"], node.name

        allowed = self.allowances("Drifted")
        for node in sorted(self.drifted(static=False), key=turn):
            if allowed[str(node.pool)] == 0:
                continue
            found = self.simulate([node], windows=False)
            if not found.failed:
                finals = [{k: r for k, r in c.requirements.items() if k != HOSTNAME} for c in found.claims]
                pairs = zip(found.claims, finals, strict=True)
                launched = [pools.by_price(c.types, final, self.known) for c, final in pairs]
                return self.command("Drift", [node], found, launched)
        return []

    def underutilized(self) -> list[StateNode]:
        return [
            n
            for n in self.candidates(eventual=False)
            if n.labels.get(INSTANCE_TYPE) in self.types
            and n.labels.get(CAPACITY_TYPE)
            and n.labels.get(ZONE)
            and not self.is_empty(n)
            and self.disruption(n, "consolidationPolicy", "WhenEmptyOrUnderutilized") != "WhenEmpty"
            and self.consolidatable(n)
        ]

    def multi_node(self) -> list[Command]:
        batch = self.within(self.ranked(self.underutilized()), "Underutilized")
        best: list[Command] = []
        low, high = 1, min(len(batch) - 1, 100)
        while low <= high:
            middle = (low + high) // 2
            found = self.together(batch[: middle + 1])
            if found is not None:
                best, low = found, middle + 1
            else:
                high = middle - 1
        return best

    def together(self, nodes: Sequence[StateNode]) -> list[Command] | None:
        found = self.simulate(nodes, windows=True)
        option = self.consolidated(nodes, found)
        if option is None or (isinstance(option, Option) and not self.of_another_type(option, nodes)):
            return None
        if not self.approved(nodes, self.savings(nodes, option)):
            return None
        launched = [self.in_order(option)] if isinstance(option, Option) else []
        return self.command("MultiNodeConsolidation", nodes, found, launched)

    def of_another_type(self, option: Option, nodes: Sequence[StateNode]) -> bool:
        """§18.4."""
        names = {t.name for t in option.types}
        prices = []
        for node in nodes:
            name = node.labels[INSTANCE_TYPE]
            if name in names:
                labels = algebra.from_labels(node.labels)
                offered = self.types[name].offerings
                matching = [o.price for o in offered if algebra.compatible(labels, o.requirements, self.known)]
                prices.append(min(matching, default=Fraction(0)))
        return not prices or self.cheaper(option, min(prices))

    def single_node(self) -> list[Command]:
        allowed = self.allowances("Underutilized")
        for node in in_turns(self.ranked(self.underutilized())):
            if allowed[str(node.pool)] == 0 or not self.approved([node], self.price(node)):
                continue
            try:
                found = self.simulate([node], windows=True)
            except NoPool:
                continue
            option = self.consolidated([node], found)
            if option is not None and self.approved([node], self.savings([node], option)):
                launched = [self.in_order(option)] if isinstance(option, Option) else []
                return self.command("SingleNodeConsolidation", [node], found, launched)
        return []

    # §20

    def approved(self, nodes: Sequence[StateNode], savings: Fraction) -> bool:
        whole = sum((self.price(n) for n in nodes), Fraction(0))
        for name in {str(n.pool) for n in nodes}:
            ours = [n for n in nodes if n.pool == name]
            if self.disruption(ours[0], "consolidationPolicy", "") != "Balanced":
                continue
            share = savings
            if len(ours) < len(nodes):
                share = savings * sum(self.price(n) for n in ours) / whole if whole else Fraction(0)
            if self.score(name, ours, float(share)) < 0.5:
                return False
        return True

    def score(self, pool: str, nodes: Sequence[StateNode], share: float) -> float:
        candidates = {n.name for n in self.candidates(eventual=False)}
        members = [n for n in self.nodes if n.pool == pool]
        cost = float(sum(self.price(n) for n in members if n.claim is not None))
        if cost <= 0:
            cost = float(sum(self.price(n) for n in members if n.name in candidates))
        disruption = sum(self.move_cost(n) if n.name in candidates else other_cost(n) for n in members)
        if share <= 0 or cost <= 0 or disruption <= 0:
            return 0.0
        return (share / cost) / (sum(map(self.move_cost, nodes)) / disruption)


class NoPool(Exception):
    """Nothing can be simulated, or nothing created: the pass ends."""


def decide(objects: list[Manifest], catalog: list[Manifest], options: Manifest) -> list[Command]:
    return Pass(objects, catalog, options).run()


def cleaned(objects: list[Manifest]) -> list[Manifest]:
    """§10.3: no command runs, so what one left behind is taken off managed nodes."""
    kept = (n for n in cluster.state_nodes(objects) if n.marked_for_deletion or n.claim is None)
    leaving = {n.node["metadata"]["name"] for n in kept if n.node is not None}
    result = []
    for obj in objects:
        if obj["kind"] == "Node" and obj["metadata"]["name"] not in leaving:
            taints = [t for t in obj["spec"].get("taints") or () if t["key"] != "karpenter.sh/disrupted"]
            obj = {**obj, "spec": {**obj["spec"], "taints": taints}}
        result.append(obj)
    return result


def in_turns(nodes: Sequence[StateNode]) -> list[StateNode]:
    """§19.1."""
    by_pool: dict[str, list[StateNode]] = {}
    for node in nodes:
        by_pool.setdefault(str(node.pool), []).append(node)
    longest = max(map(len, by_pool.values()), default=0)
    return [of_pool[turn] for turn in range(longest) for of_pool in by_pool.values() if turn < len(of_pool)]


def active(pod: Manifest) -> bool:
    return not selecting.is_terminating(pod) and not selecting.is_finished(pod)


def is_true(obj: Manifest | None, type: str) -> bool:
    found = selecting.condition(obj, type) if obj is not None else None
    return found is not None and found["status"] == "True"


def annotation(obj: Manifest, key: str) -> str | None:
    return (obj["metadata"].get("annotations") or {}).get(key)


def eviction_cost(pod: Manifest) -> float:
    """§9.1."""
    given = int(annotation(pod, "controller.kubernetes.io/pod-deletion-cost") or 0)
    cost = 1.0 + given / 2**27 + (pod["spec"].get("priority") or 0) / 2**25
    return min(10.0, max(-10.0, cost))


def other_cost(node: StateNode) -> float:
    """§20.1, for nodes that are no candidates."""
    pods = (p for p in node.bound if not selecting.owned_by(p, "apps/v1", "DaemonSet"))
    return 1.0 + sum(max(0.0, eviction_cost(pod)) for pod in pods)


def amount(text: str, whole: int) -> int:
    return math.ceil(Fraction(text[:-1]) * whole / 100) if text.endswith("%") else int(text)
