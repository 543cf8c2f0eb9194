"""The provisioning pass (§6, §10.6, §11, §17, §29): the queue, one try, and what it leaves behind."""

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from . import algebra, catalogue, cluster, constraints, daemons, pools, resources, selecting, topology
from .algebra import CAPACITY_TYPE, HOSTNAME, RESERVATION_ID, Manifest, Requirements
from .catalogue import InstanceType, Offering
from .cluster import StateNode
from .pools import Template
from .resources import Amounts
from .selecting import Port
from .volumes import Missing, Volumes


@dataclass(frozen=True)
class Refusal:
    """Why a candidate does not take a pod; `final` errors stop relaxation and the row of templates (§5.8, §17.4)."""

    text: str
    final: bool = False


@dataclass
class Existing:
    """An existing node in the simulation (§10)."""

    state: StateNode
    requirements: Requirements
    remaining: Amounts
    ports: dict[str, frozenset[Port]]
    volumes: set[tuple[str, str]]
    limits: dict[str, int]


@dataclass
class Claim:
    """A planned claim (§11)."""

    number: int
    template: Template
    requirements: Requirements
    types: list[InstanceType]
    groups: list[daemons.Group]
    ports: dict[str, frozenset[Port]] = field(default_factory=dict)
    pods: list[str] = field(default_factory=list)
    requests: Amounts = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()
    relaxed_min_values: bool = False

    @property
    def hostname(self) -> str:
        return f"hostname-placeholder-{self.number:04d}"


@dataclass(frozen=True)
class Acceptance:
    """What a claim becomes by taking a pod (§11.3)."""

    requirements: Requirements
    types: list[InstanceType]
    requests: Amounts
    reserved: frozenset[str]
    lowered: bool


@dataclass(frozen=True)
class Asking:
    """A pod in one state of relaxation with what is asked of it again and again (§29.3)."""

    pod: Manifest
    name: str
    request: Amounts
    demands: Requirements
    strict: Requirements
    alternatives: list[Requirements]
    ports: frozenset[Port]
    volumes: set[tuple[str, str]]


class Pass:
    """One provisioning run over what has been collected (§29.1)."""

    def __init__(
        self,
        *,
        objects: list[Manifest],
        options: Manifest,
        known: frozenset[str],
        pool_list: list[Manifest],
        types: dict[str, list[InstanceType]],
        nodes: list[StateNode],
        pods: list[Manifest],
    ) -> None:
        self.known, self.options = known, options
        self.ignore_preferences = options.get("preferencePolicy") == "Ignore"
        self.best_effort = options.get("minValuesPolicy") == "BestEffort"
        self.ignore_claims = options.get("ignoreDraRequests", True)
        self.reserving = (options.get("featureGates") or {}).get("ReservedCapacity", True)
        self.volumes = Volumes(objects)
        self.pods = pods
        offered = [n for n in nodes if not n.marked_for_deletion]
        self.soft_pool_taint = any(t.get("effect") == "PreferNoSchedule" for p in pool_list for t in pools.taints(p))
        self.alternatives = {selecting.uid(p): self.alternatives_of(p) for p in pods}
        self.topology = topology.Topology(
            objects=objects,
            universe=topology.universe_of(pool_list, types),
            nodes=nodes,
            offered=offered,
            passing={selecting.uid(p) for p in pods},
            ignore_preferences=self.ignore_preferences,
        )
        for pod in pods:
            if self.alternatives[selecting.uid(pod)] is not None:
                self.topology.own(pod)
        self.templates = [t for p in pool_list if (t := self.template_of(p, types[p["metadata"]["name"]]))]
        running = daemons.daemons_of(objects, self.ignore_claims)
        self.groups = {t.name: daemons.groups_of(t, running, self.known) for t in self.templates}
        self.existing = [self.existing_of(n, running) for n in cluster.in_order(offered)]
        self.remaining = {p["metadata"]["name"]: pools.remaining_limits(p, offered) for p in pool_list}
        self.left = reservations_left(types)
        self.claims: list[Claim] = []
        self.opened = 0
        self.places: dict[str, tuple[str, str | int]] = {}
        self.errors: dict[str, str] = {}
        self.relaxations: dict[str, list[str]] = {}

    def alternatives_of(self, pod: Manifest) -> list[Requirements] | None:
        """§14.4; None when the look-up fails (§14.7)."""
        try:
            return self.volumes.alternatives(pod)
        except Missing:
            return None

    def template_of(self, pool: Manifest, types: list[InstanceType]) -> Template | None:
        """§3.7."""
        requirements, labels = pools.template_requirements(pool)
        nothing: dict[str, Amounts] = {t.name: {} for t in types}
        kept = pools.filter_types(types, requirements, nothing, self.known, lower_min_values=self.best_effort)
        return Template(pool, requirements, labels, kept.types) if kept.types else None

    def existing_of(self, state: StateNode, running: list[daemons.Daemon]) -> Existing:
        """§9.7, §10.3, §14.8."""
        self.topology.register_host(state.hostname)
        requirements = algebra.from_labels({**state.labels, HOSTNAME: state.hostname})
        return Existing(
            state=state,
            requirements=requirements,
            remaining=resources.minus(state.available, daemons.reserve(state, running)),
            ports={selecting.full_name(p): selecting.host_ports(p) for p in state.bound},
            volumes={pair for p in state.bound for pair in self.volumes.attached(p)},
            limits=self.volumes.limits(state.node["metadata"]["name"]) if state.node is not None else {},
        )

    def run(self) -> None:
        """§6.1, §6.2."""
        queue = sorted(self.pods, key=queue_key)
        remembered: dict[str, int] = {}
        while queue and remembered.get(selecting.uid(queue[0])) != len(queue):
            pod = queue.pop(0)
            error = self.try_pod(pod)
            if error is None:
                self.errors.pop(selecting.full_name(pod), None)
                continue
            self.errors[selecting.full_name(pod)] = error
            queue.append(pod)
            remembered[selecting.uid(pod)] = len(queue)

    def try_pod(self, original: Manifest) -> str | None:
        """§5.7, §29.2."""
        pod, steps = copy.deepcopy(original), []
        while (refusal := self.place(self.asking(pod))) is not None:
            step = None if refusal.final else constraints.relax(pod, self.soft_pool_taint)
            if step is None:
                self.topology.own(original)
                return refusal.text
            steps.append(step)
            self.topology.own(pod)
        self.relaxations[selecting.full_name(original)] = steps
        return None

    def asking(self, pod: Manifest) -> Asking:
        return Asking(
            pod=pod,
            name=selecting.full_name(pod),
            request=resources.pod_request(pod),
            demands=constraints.demand_set(pod, self.ignore_preferences),
            strict=constraints.strict_set(pod),
            alternatives=self.alternatives[selecting.uid(pod)] or [{}],
            ports=selecting.host_ports(pod),
            volumes=self.volumes.attached(pod),
        )

    def place(self, asking: Asking) -> Refusal | None:
        """§6.3: existing nodes, planned claims, a new claim."""
        if self.ignore_claims and constraints.uses_resource_claims(asking.pod):
            return Refusal("resource claims (DRA) are not supported", final=True)
        for node in self.existing:
            narrowed = self.node_accepts(node, asking)
            if not isinstance(narrowed, Refusal):
                self.join_node(node, asking, narrowed)
                return None
        for claim in sorted(self.claims, key=lambda c: (len(c.pods), c.number)):
            accepted = self.claim_accepts(claim, asking, lower_min_values=False)
            if not isinstance(accepted, Refusal):
                self.join_claim(claim, asking, accepted)
                return None
        return self.open_claim(asking)

    def node_accepts(self, node: Existing, asking: Asking) -> Requirements | Refusal:
        """§10.6."""
        if taint := selecting.untolerated(asking.pod, node.state.taints):
            return Refusal(f"did not tolerate taint {taint['key']}")
        attached = node.volumes | asking.volumes
        for driver, limit in node.limits.items():
            if sum(1 for pair in attached if pair[0] == driver) > limit:
                return Refusal(f"would exceed the volume limit of {driver}")
        if ports_taken(node.ports, asking):
            return Refusal("host port conflict")
        if lacking := resources.lacking(asking.request, node.remaining):
            return Refusal(f"exceeds node resources: {lacking}")
        if fault := algebra.incompatible(node.requirements, asking.demands):
            return Refusal(fault)
        narrowed = algebra.merged(node.requirements, asking.demands)
        return self.first_alternative(asking, narrowed, frozenset())

    def first_alternative(self, asking: Asking, base: Requirements, allow: frozenset[str]) -> Requirements | Refusal:
        """§10.6: the first volume alternative for which topology finds a place."""
        refusal = Refusal("no volume alternative")
        for alternative in asking.alternatives:
            answer = self.alternative(asking, base, alternative, allow)
            if not isinstance(answer, Refusal):
                return answer
            refusal = answer
        return refusal

    def alternative(
        self, asking: Asking, base: Requirements, alternative: Requirements, allow: frozenset[str]
    ) -> Requirements | Refusal:
        if fault := algebra.incompatible(base, alternative, allow):
            return Refusal(fault)
        narrowed = algebra.merged(base, alternative)
        answer, error = self.topology.narrow(asking.pod, asking.strict, narrowed)
        error = error or algebra.incompatible(narrowed, answer, allow)
        return Refusal(error) if error else algebra.merged(narrowed, answer)

    def join_node(self, node: Existing, asking: Asking, narrowed: Requirements) -> None:
        """§10.7."""
        node.remaining = resources.minus(node.remaining, asking.request)
        node.requirements = narrowed
        node.ports[asking.name] = asking.ports
        node.volumes |= asking.volumes
        self.topology.record(asking.pod, node.state.taints, narrowed)
        self.places[asking.name] = ("node", node.state.name)

    def claim_accepts(self, claim: Claim, asking: Asking, *, lower_min_values: bool) -> Acceptance | Refusal:
        """§11.2."""
        if taint := selecting.untolerated(asking.pod, claim.template.taints):
            return Refusal(f"did not tolerate taint {taint['key']}")
        if fault := algebra.incompatible(claim.requirements, asking.demands, self.known):
            return Refusal(fault)
        base = algebra.merged(claim.requirements, asking.demands)
        refusal = Refusal("no volume alternative")
        for alternative in asking.alternatives:
            narrowed = self.alternative(asking, base, alternative, self.known)
            if isinstance(narrowed, Refusal):
                refusal = narrowed
                continue
            answer = self.with_types(claim, asking, narrowed, lower_min_values)
            if not isinstance(answer, Refusal):
                return answer
            refusal = answer
        return refusal

    def with_types(
        self, claim: Claim, asking: Asking, narrowed: Requirements, lower_min_values: bool
    ) -> Acceptance | Refusal:
        """§11.2.4, §11.2.5, §9.4."""
        requests = resources.plus(claim.requests, asking.request)
        taken = ports_taken(claim.ports, asking)
        clashing = [g for g in claim.groups if taken or selecting.ports_clash(asking.ports, g.ports)]
        shut = {name for g in clashing for name in g.types}
        by_type = {name: resources.plus(requests, g.request) for g in claim.groups for name in g.types}
        open_types = [t for t in claim.types if t.name not in shut]
        kept = pools.filter_types(open_types, narrowed, by_type, self.known, lower_min_values=lower_min_values)
        if kept.error:
            return Refusal(kept.error)
        lowered = {key: replace(narrowed[key], min_values=count) for key, count in kept.lowered.items()}
        final = {**narrowed, **lowered}
        reserved = self.reserve(claim, kept.types, final)
        if isinstance(reserved, Refusal):
            return reserved
        return Acceptance(final, kept.types, requests, reserved, bool(kept.lowered))

    def reserve(self, claim: Claim, types: list[InstanceType], final: Requirements) -> frozenset[str] | Refusal:
        """§17.3, §17.4."""
        if not self.reserving:
            return frozenset()
        offered = {o.reservation for o in reserved_offerings(types, final, self.known)}
        held = frozenset(r for r in offered if r and (r in claim.reserved or self.left[r] > 0))
        if (offered or claim.reserved) and not held:
            return Refusal("reserved offerings exist but could not be reserved", final=True)
        return held

    def join_claim(self, claim: Claim, asking: Asking, accepted: Acceptance) -> None:
        """§11.3."""
        for reservation in claim.reserved - accepted.reserved:
            self.left[reservation] += 1
        for reservation in accepted.reserved - claim.reserved:
            self.left[reservation] -= 1
        claim.requirements, claim.types = accepted.requirements, accepted.types
        claim.requests, claim.reserved = accepted.requests, accepted.reserved
        claim.ports[asking.name] = asking.ports
        claim.pods.append(asking.name)
        self.topology.register_host(claim.hostname)
        self.topology.record(asking.pod, claim.template.taints, accepted.requirements)
        self.places[asking.name] = ("claim", claim.number)

    def open_claim(self, asking: Asking) -> Refusal | None:
        """§6.3c, §6.4, §18."""
        texts = []
        for template in self.templates:
            refusal = self.open_from(template, asking)
            if refusal is None:
                return None
            texts.append(f"nodePool {template.name}: {refusal.text}")
            if refusal.final:
                return Refusal("; ".join(texts), final=True)
        return Refusal("; ".join(texts) or "the requirements of the pools leave no instance type")

    def open_from(self, template: Template, asking: Asking) -> Refusal | None:
        """§11.1, §11.4, §18.2, §18.4."""
        remaining = self.remaining[template.name]
        if remaining is not None and remaining.get("nodes") == 0:
            return Refusal("node limits exhausted")
        types = [t for t in template.types if pools.within_limits(t, remaining)]
        if not types:
            return Refusal("all instance types exceed limits")
        claim = Claim(self.opened + 1, template, {}, types, self.groups[template.name])
        placeholder = algebra.requirement(HOSTNAME, "In", [claim.hostname])
        claim.requirements = algebra.add(template.requirements, [placeholder])
        accepted = self.claim_accepts(claim, asking, lower_min_values=self.best_effort)
        if isinstance(accepted, Refusal):
            return accepted
        self.opened += 1
        claim.relaxed_min_values = accepted.lowered
        self.claims.append(claim)
        self.join_claim(claim, asking, accepted)
        self.remaining[template.name] = pools.charged(remaining, accepted.types)
        return None


def queue_key(pod: Manifest) -> tuple[int, int, str, str]:
    """§6.1."""
    request = resources.pod_request(pod)
    created = str(pod["metadata"].get("creationTimestamp") or "")
    return -request.get("cpu", 0), -request.get("memory", 0), created, selecting.uid(pod)


def ports_taken(ports: dict[str, frozenset[Port]], asking: Asking) -> bool:
    """§15.2: a pod does not clash with itself."""
    return any(selecting.ports_clash(asking.ports, taken) for name, taken in ports.items() if name != asking.name)


def reservations_left(types: dict[str, list[InstanceType]]) -> dict[str, int]:
    """§17.2."""
    left: dict[str, int] = {}
    for offering in (o for listed in types.values() for t in listed for o in t.offerings):
        if offering.reservation and offering.available:
            left[offering.reservation] = min(offering.count, left.get(offering.reservation, offering.count))
    return left


def reserved_offerings(types: Iterable[InstanceType], wanted: Requirements, known: frozenset[str]) -> list[Offering]:
    some = [t for t in types if any(o.reservation for o in t.offerings)]
    return [o for t in some for o in catalogue.open_offerings(t, wanted, known) if o.reservation]


def finalised(claim: Claim) -> Requirements:
    """§6.5, §17.6."""
    result = {key: r for key, r in claim.requirements.items() if key != HOSTNAME}
    if claim.reserved:
        result[CAPACITY_TYPE] = algebra.requirement(CAPACITY_TYPE, "In", ["reserved"])
        result[RESERVATION_ID] = algebra.requirement(RESERVATION_ID, "In", claim.reserved)
    return result
