"""Why a pod that found no place was refused by each target, in the words of Karpenter's errors (spec 12.4, 24).

Asked of a pass before it is undone, about the pod as it was in its last, fully relaxed attempt.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from baseload.decide.fit.attempt import Pass
from baseload.decide.fit.base import Base
from baseload.decide.fit.planned import Claim, types_holding
from baseload.decide.fit.ports import clash
from baseload.decide.fit.shape import Kind, Size
from baseload.decide.fit.taints import first_untolerated
from baseload.decide.fit.template import Load, Template
from baseload.decide.fit.topology import Group, GroupKind, HostGroup, ZoneGroup
from baseload.model.statenode import INITIALIZED, REGISTERED
from baseload.plan.reason import Reason, Why
from baseload.values import quantity
from baseload.values.label import HOSTNAME
from baseload.values.requirement import Requirements
from baseload.values.resource import written

_CLOSED: Final[Why] = Reason.WINDOW, "the node is inside its consolidateAfter window and takes no moved pods"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One target's no. `place` counts existing nodes or planned claims; for pools `name` says which."""

    target: Literal["node", "nodeClaim", "nodePool"]
    place: int
    name: str
    reason: Reason
    message: str


def refusals(base: Base, run: Pass, kind: Kind, size: Size, *, most: int, closed: int = 0) -> Iterator[Refusal]:
    """Every pool's reason, then those of `most` existing nodes and planned claims, in the order in which they are
    tried. `closed` are the nodes that take no pods of this kind for now.
    """
    for template in base.all_templates:
        reason, message = _of_template(base, run, kind, size, template)
        yield Refusal("nodePool", 0, template.name, reason, message)
    removed = base.nodes.open & ~base.nodes.active
    for place, host in enumerate(base.nodes.hosts[:most]):
        if removed >> place & 1:
            continue
        reason, message = _CLOSED if closed >> place & 1 else _of_node(base, kind, size, place)
        yield Refusal("node", place, host.name, reason, message)
    for claim in run.claims.all[: max(0, most - len(base.nodes.hosts))]:
        reason, message = _of_claim(base, kind, size, claim)
        yield Refusal("nodeClaim", claim.place, "", reason, message)


def _of_template(base: Base, run: Pass, kind: Kind, size: Size, template: Template) -> Why:
    if not template.mask:
        return _empty_pool(base, template)
    if why := _taints_and_sets(base, kind, template.taints, template.number, strict=False):
        return why
    if kind.host is not None and not kind.on_claims:
        return Reason.REQUIREMENTS, f"{kind.host}: a new node has a hostname of its own"
    limits = run.limits.get(template.name, {})
    if limits.get("nodes") == 0:
        return Reason.NODE_LIMIT, f"the limit of nodes of NodePool {template.name} is used up"
    launchable = template.types.within(template.mask, limits)
    if not launchable:
        return (
            Reason.LIMITS,
            f"every instance type would exceed the limits of NodePool {template.name} ({_left(limits)})",
        )
    if why := _topology(base, kind, template.number, strict=False, claims=True, place=None):
        return why
    why = _types(base, kind, size, template, template.number, launchable, template.loads)
    if launchable != template.mask and why[0] in (Reason.RESOURCES, Reason.INSTANCE_TYPE):
        without = _types(base, kind, size, template, template.number, template.mask, template.loads)
        if without[0] is Reason.RESERVED:
            reach = f"what its limits leave ({_left(limits)}) allows none of the types that would do"
            return Reason.LIMITS, f"NodePool {template.name}: {reach}"
    return why


def _empty_pool(base: Base, template: Template) -> Why:
    if template.short:
        wanted = dict(base.sets.min_values(base.sets.number(template.offer.requirements)))
        short = ", ".join(f"{key}: {reached} of {wanted[key]}" for key, reached in template.short)
        return Reason.MIN_VALUES, f"NodePool {template.name} does not reach its minValues whatever the pod ({short})"
    return Reason.EMPTY_POOL, f"the requirements of NodePool {template.name} leave no instance type"


def _of_node(base: Base, kind: Kind, size: Size, place: int) -> Why:
    nodes = base.nodes
    host, hosts, remaining = nodes.hosts[place], nodes.class_of[place], nodes.remaining[place]
    overdrawn = [resource for resource, amount in remaining.items() if amount < 0]
    if overdrawn:
        over = ", ".join(f"{r} by {written(r, -remaining[r])}" for r in overdrawn)
        return Reason.OVERDRAWN, f"the node is overdrawn: {over}"
    if taint := first_untolerated(base.taint_lists[hosts.taints], kind.constraints.tolerations):
        return Reason.TAINT, f"did not tolerate taint {taint}"
    if why := _attach(base, kind, place):
        return why
    if kind.constraints.ports and (port := clash(kind.constraints.ports, nodes.ports(place))):
        return Reason.HOST_PORT, f"host port {port} is taken"
    lacking = [(r, need, remaining.get(r, 0)) for r, need in size.load if remaining.get(r, 0) < need]
    if lacking:
        text = ", ".join(f"{r} {written(r, need)} of {written(r, left)} left" for r, need, left in lacking)
        return Reason.RESOURCES, f"exceeds node resources: {text}"
    if kind.host is not None and not kind.host.has(host.hostname):
        return Reason.REQUIREMENTS, f"key {HOSTNAME}, {kind.host} not in In [{host.hostname}]"
    if why := _taints_and_sets(base, kind, hosts.taints, hosts.number, strict=True):
        return why
    topology = _topology(base, kind, hosts.number, strict=True, claims=False, place=place)
    return topology or (Reason.REQUIREMENTS, "the demands of its volumes and of topology leave no way")


def _of_claim(base: Base, kind: Kind, size: Size, claim: Claim) -> Why:
    hosts, template = claim.hosts, claim.template
    if why := _taints_and_sets(base, kind, hosts.taints, hosts.number, strict=False):
        return why
    if kind.host is not None and not kind.on_claims:
        return Reason.REQUIREMENTS, f"{kind.host}: a new node has a hostname of its own"
    if why := _topology(base, kind, hosts.number, strict=False, claims=True, place=claim.place):
        return why
    return _types(base, kind, size, template, hosts.number, claim.types, claim.loads)


def _taints_and_sets(base: Base, kind: Kind, taints: int, number: int, *, strict: bool) -> Why | None:
    if taint := first_untolerated(base.taint_lists[taints], kind.constraints.tolerations):
        return Reason.TAINT, f"did not tolerate taint {taint}"
    allowed = () if strict else base.sets.well_known
    held = base.sets[number]
    if found := held.conflict(kind.full, allowed):
        return Reason.REQUIREMENTS, f"incompatible requirements, {found[1]}"
    joined = held.add(kind.full)
    conflicts = [joined.conflict(option.requirements, allowed) for option in kind.options]
    if all(conflicts):
        text = next(c[1] for c in conflicts if c)
        return Reason.REQUIREMENTS, f"incompatible volume requirements, {text}"
    return None


def _topology(base: Base, kind: Kind, number: int, *, strict: bool, claims: bool, place: int | None) -> Why | None:
    """The first group that bars a host, in its own words; None when none does by itself."""
    allowed = () if strict else base.sets.well_known
    held = base.sets[number].add(kind.full, kind.options[0].requirements)
    narrowed = held
    for zone in kind.zones:
        group, own = zone.group, held.get_or_exists(zone.group.key)
        answer = group.answer(own, zone.reach, zone.own)
        if answer is None or not held.compatible(Requirements.of((answer,)), allowed):
            return Reason.TOPOLOGY, _zone_text(group)
        narrowed = narrowed.add(answer)
    if not held.compatible(narrowed, allowed):
        return Reason.TOPOLOGY, "its topology constraints have no domain in common"
    for use in kind.hosts:
        if _host_bars(use.group, use.own, kind, claims, place):
            return Reason.TOPOLOGY, _host_text(use.group)
    return None


def _host_bars(group: HostGroup, own: int, kind: Kind, claims: bool, place: int | None) -> bool:
    if group.kind is GroupKind.AFFINITY:
        if own and group.may_bootstrap(kind.host_strict, kind.host_reach):
            return False
        return place is None or not group.levels[int(claims)][1] >> place & 1
    if place is None:
        return group.kind is GroupKind.SPREAD and own > group.max_skew
    return bool(group.blocked(int(claims), own) >> place & 1)


def _zone_text(group: ZoneGroup) -> str:
    counts = ", ".join(f"{domain}: {count}" for domain, count in sorted(group.counts.items())[:8])
    more = ", …" if len(group.counts) > 8 else ""
    known = f"counts {{{counts}{more}}}" if counts else "no domain is known"
    skew = f", maxSkew {group.max_skew}" if group.kind is GroupKind.SPREAD else ""
    return (
        f"unsatisfiable topology constraint for {group.kind.value}, key={group.key} ({known}{skew}{_selector(group)})"
    )


def _host_text(group: HostGroup) -> str:
    occupied = sum(1 for c in group.nodes.values() if c) + len(group.claims)
    skew = f", maxSkew {group.max_skew}" if group.kind is GroupKind.SPREAD else ""
    return (
        f"unsatisfiable topology constraint for {group.kind.value}, key={group.key} "
        f"({occupied} hosts hold a matching pod{skew}{_selector(group)})"
    )


def _selector(group: Group) -> str:
    return "" if group.selector is None else f", selector {group.selector}"


def _types(
    base: Base, kind: Kind, size: Size, template: Template, number: int, mask: int, loads: Sequence[Load]
) -> Why:
    """Which of requirements, size and offering no type met, alone or together (12.4)."""
    index = template.types
    final = base.sets[number].add(kind.full, kind.options[0].requirements)
    for zone in kind.zones:
        answer = zone.group.answer(final.get_or_exists(zone.group.key), zone.reach, zone.own)
        final = final.add(answer) if answer is not None else final
    agreeing = index.agreeing(final) & mask
    offered = index.offered(final) & mask
    mask &= template.carrying
    holding = types_holding(template, loads, mask, size, kind.constraints.ports)
    ports = holding or types_holding(template, loads, mask, size, ())
    if not holding and ports:
        return Reason.HOST_PORT, "its host port is taken by a daemon or a pod on every instance type"
    fitting = agreeing & offered & holding
    if fitting and (short := index.short_of_variety(fitting, base.sets.number(final))):
        reached = ", ".join(f"{key}: {count} of {final[key].min_values}" for key, count in short)
        return Reason.MIN_VALUES, f"minValues would not be met by the instance types that fit ({reached})"
    if fitting:
        return Reason.RESERVED, "reserved capacity goes with it, but none is left, so it waits"
    return _unmet(agreeing, offered, holding, final, size)


def _unmet(agreeing: int, offered: int, holding: int, final: Requirements, size: Size) -> Why:
    """The first criterion that no type met, else the first two that none met together."""
    wanted = f"({_without_simulated(final)})"
    asked = ", ".join(f"{r} {written(r, a)}" for r, a in size.load if r != "pods")
    hint = ' (is "m" meant as a suffix of cpu, or "M" of memory?)' if _is_absurd(size) else ""
    enough, offering = f"enough resources for {asked}", "the required offering"
    cases = (
        (holding, Reason.RESOURCES, f"no instance type has {enough} with its daemons{hint}"),
        (agreeing, Reason.REQUIREMENTS, f"no instance type met all requirements {wanted}"),
        (offered, Reason.OFFERING, f"no instance type has {offering} {wanted}"),
        (agreeing & holding, Reason.INSTANCE_TYPE, f"no instance type that met all requirements has {enough} {wanted}"),
        (agreeing & offered, Reason.OFFERING, f"no instance type that met all requirements has {offering} {wanted}"),
        (holding & offered, Reason.INSTANCE_TYPE, f"no instance type with {enough} has {offering} {wanted}"),
    )
    for met, reason, text in cases:
        if not met:
            return reason, text
    return Reason.INSTANCE_TYPE, f"no instance type met the requirements and has {enough} and {offering} {wanted}"


def _attach(base: Base, kind: Kind, place: int) -> Why | None:
    limits, held = base.nodes.hosts[place].attach_limits, base.nodes.attached(place)
    for driver, limit in sorted(limits.items()):
        count = len(held.get(driver, frozenset()) | kind.attachments.get(driver, frozenset()))
        if count > limit:
            return Reason.VOLUME_LIMIT, f"would exceed the volume limit of {driver}: {count} of {limit}"
    return None


def _is_absurd(size: Size) -> bool:
    return any(resource == "cpu" and amount >= 1_000_000 * quantity.UNIT for resource, amount in size.load)


def _left(limits: dict[str, int]) -> str:
    return ", ".join(f"{resource} {written(resource, amount)} left" for resource, amount in sorted(limits.items()))


def _without_simulated(requirements: Requirements) -> str:
    return ", ".join(str(r) for key, r in requirements.items() if key not in (REGISTERED, INITIALIZED))
