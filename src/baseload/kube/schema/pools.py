"""Rules on Karpenter's objects and on capacity buffers: their definitions' own (CEL), and those of the run time."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from baseload.kube.schema import names, requirements
from baseload.kube.schema.finding import Finding, invalid, unsupported
from baseload.kube.types.autoscaling import CapacityBuffer
from baseload.kube.types.ec2 import AMISelectorTerm, EC2NodeClass, EC2NodeClassSpec
from baseload.kube.types.karpenter import NodeClaim, NodeClaimTemplateSpec, NodeOverlay, NodePool, NodePoolSpec
from baseload.kube.types.meta import Taint
from baseload.values.errors import Fault

_RESTRICTED_CAPACITY = ("cpu", "memory", "ephemeral-storage", "pods")
_RESTRICTED_TAGS = (
    "eks:eks-cluster-name",
    "karpenter.sh/nodepool",
    "karpenter.sh/nodeclaim",
    "karpenter.k8s.aws/ec2nodeclass",
)
_SIGNALS = (
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "pid.available",
)
_RESERVABLE = ("cpu", "memory", "ephemeral-storage", "pid")
_PERCENTAGE = re.compile(r"\d{1,3}(\.\d{1,2})?%", re.ASCII)
_PRICE = re.compile(r"\d+(\.\d+)?", re.ASCII)
_ADJUSTMENT = re.compile(r"[+-](\d+(\.\d*)?|\.\d+)%?", re.ASCII)
_DEAREST = 10**6  # dollars an hour, or per cent
_NODE_CLASS_REF = "spec.template.spec.nodeClassRef"


def mend(fault: Fault, node_classes: Sequence[str]) -> Fault:
    """The fault that a pool has no nodeClassRef, which many tutorials leave out, with the lines that it lacks.

    The only EC2NodeClass of the input is the one that is meant.
    """
    if fault.path != _NODE_CLASS_REF or fault.message != "Required value":
        return fault
    name = node_classes[0] if len(node_classes) == 1 else "default"
    lines = ("nodeClassRef:", "  group: karpenter.k8s.aws", "  kind: EC2NodeClass", f"  name: {name}")
    return replace(fault, mend=("add under spec.template.spec:", *(f"      {line}" for line in lines)))


def node_pool(pool: NodePool, well_known: Collection[str]) -> Iterator[Finding]:
    """A NodePool."""
    spec = pool.spec
    path = "spec.template.metadata.labels"
    for key in spec.template.metadata.labels:
        yield from requirements.restricted(key, names.below(path, key), well_known, pool=True)
    yield from names.labels(spec.template.metadata.labels, path)
    demanded = spec.template.spec.requirements
    yield from requirements.of_karpenter(demanded, "spec.template.spec.requirements", well_known, pool=True)
    yield from _taints(spec.template.spec)
    yield from names.amounts(spec.limits, "spec.limits")
    yield from _static(spec)
    if spec.weight is not None and not 1 <= spec.weight <= 100:
        yield invalid("spec.weight", spec.weight, "spec.weight in body should be between 1 and 100")
    for index, budget in enumerate(spec.disruption.budgets or ()):
        if bool(budget.schedule) != bool(budget.duration):
            yield invalid(f"spec.disruption.budgets[{index}]", {}, "'schedule' must be set with 'duration'")


def _static(spec: NodePoolSpec) -> Iterator[Finding]:
    if spec.replicas is None:
        return
    if spec.limits and set(spec.limits) != {"nodes"}:
        yield invalid("spec.limits", {}, "only 'limits.nodes' is supported on static NodePools")
    if spec.weight is not None:
        yield invalid("spec.weight", spec.weight, "'weight' is not supported on static NodePools")


def _taints(spec: NodeClaimTemplateSpec) -> Iterator[Finding]:
    """Key and effect stand once over both lists: a node's taints are told apart by them."""
    seen: set[tuple[str, str]] = set()
    lists: tuple[tuple[str, Sequence[Taint]], ...] = (("taints", spec.taints), ("startupTaints", spec.startup_taints))
    for field, given in lists:
        path = f"spec.template.spec.{field}"
        yield from names.taints(tuple(given), path)
        for index, taint in enumerate(given):
            if (taint.key, taint.effect) in seen:
                yield Finding(f"{path}[{index}]", f'Duplicate value: "{taint.key}:{taint.effect}"')
            seen.add((taint.key, taint.effect))


def node_claim(claim: NodeClaim, well_known: Collection[str]) -> Iterator[Finding]:
    """A NodeClaim; its own requirements may name its pool."""
    yield from requirements.of_karpenter(claim.spec.requirements, "spec.requirements", well_known)
    yield from names.amounts(claim.spec.resources.requests, "spec.resources.requests")
    yield from names.taints(claim.spec.taints, "spec.taints")
    yield from names.taints(claim.spec.startup_taints, "spec.startupTaints")
    yield from names.amounts(claim.status.capacity, "status.capacity")
    yield from names.amounts(claim.status.allocatable, "status.allocatable")


def node_overlay(overlay: NodeOverlay, well_known: Collection[str]) -> Iterator[Finding]:
    """A NodeOverlay."""
    spec = overlay.spec
    yield from requirements.of_karpenter(spec.requirements, "spec.requirements", well_known)
    yield from names.amounts(spec.capacity, "spec.capacity")
    for name in _RESTRICTED_CAPACITY:
        if name in spec.capacity:
            yield invalid(names.below("spec.capacity", name), spec.capacity[name], "invalid resource restricted")
    if spec.price is not None and not _PRICE.fullmatch(str(spec.price)):
        yield names.fatal(invalid("spec.price", spec.price, "must be an amount of dollars such as 0.25"))
    if spec.price_adjustment and not _ADJUSTMENT.fullmatch(spec.price_adjustment):
        message = "must be a signed amount or percentage such as -0.05 or +10%"
        yield names.fatal(invalid("spec.priceAdjustment", spec.price_adjustment, message))
    for field, written in (("price", str(spec.price or "")), ("priceAdjustment", spec.price_adjustment or "")):
        if (_PRICE.fullmatch(written) or _ADJUSTMENT.fullmatch(written)) and float(written.strip("+-%")) > _DEAREST:
            yield names.fatal(invalid(f"spec.{field}", written, f"is absurd: at most {_DEAREST}"))
    if spec.price is not None and spec.price_adjustment:
        yield invalid("spec", {}, "cannot set both 'price' and 'priceAdjustment'")


def capacity_buffer(buffer: CapacityBuffer) -> Iterator[Finding]:
    """A CapacityBuffer."""
    spec = buffer.spec
    yield from names.amounts(spec.limits, "spec.limits")
    if spec.pod_template_ref is not None:
        if spec.replicas is None and not spec.limits:
            yield invalid("spec", {}, "If podTemplateRef is set, replicas or limits must also be set")
        if spec.scalable_ref is not None:
            yield invalid("spec", {}, "You must define either PodTemplateRef or ScalableRef, but not both")


def ec2_node_class(node_class: EC2NodeClass) -> Iterator[Finding]:
    """An EC2NodeClass."""
    spec = node_class.spec
    if bool(spec.role) == bool(spec.instance_profile):
        yield invalid("spec", {}, "must specify exactly one of ['role', 'instanceProfile']")
    if not spec.ami_family and spec.ami_selector_terms and not any(term.alias for term in spec.ami_selector_terms):
        yield invalid("spec", {}, "must specify amiFamily if amiSelectorTerms does not contain an alias")
    yield from _ami_terms(spec.ami_selector_terms)
    yield from _empty_terms(spec)
    yield from _block_devices(spec)
    for key in spec.tags:
        if key in _RESTRICTED_TAGS or key.startswith("kubernetes.io/cluster"):
            yield invalid(names.below("spec.tags", key), key, f"tag contains a restricted tag matching {key}")
    kubelet = spec.kubelet
    for field, reserved in (("kubeReserved", kubelet.kube_reserved), ("systemReserved", kubelet.system_reserved)):
        yield from _reserved(reserved, f"spec.kubelet.{field}")
    for field, thresholds in (("evictionHard", kubelet.eviction_hard), ("evictionSoft", kubelet.eviction_soft)):
        yield from _thresholds(thresholds, f"spec.kubelet.{field}")


def _thresholds(given: Mapping[str, str], path: str) -> Iterator[Finding]:
    """Eviction thresholds: a quantity or a percentage, by signal."""
    for signal, threshold in given.items():
        at = names.below(path, signal)
        if signal not in _SIGNALS:
            yield unsupported(at, signal, _SIGNALS)
        if threshold.endswith("%"):
            if not _PERCENTAGE.fullmatch(threshold) or float(threshold[:-1]) > 100:
                yield names.fatal(invalid(at, threshold, "must be a percentage between 0% and 100%"))
        else:
            yield from names.amount_of(threshold, at)


def _reserved(given: Mapping[str, str], path: str) -> Iterator[Finding]:
    """Amounts that the kubelet sets aside; a text that begins with no digit may be an expression."""
    for name, amount in given.items():
        if name not in _RESERVABLE:
            yield unsupported(names.below(path, name), name, _RESERVABLE)
        if amount[:1] in "+-.0123456789":
            yield from names.amount_of(amount, names.below(path, name))


def _ami_terms(terms: Sequence[AMISelectorTerm]) -> Iterator[Finding]:
    path = "spec.amiSelectorTerms"
    for index, term in enumerate(terms):
        others = bool(term.tags or term.name or term.owner)
        if not (term.tags or term.id or term.name or term.alias or term.ssm_parameter):
            message = "expected at least one, got none, ['tags', 'id', 'name', 'alias', 'ssmParameter']"
            yield invalid(f"{path}[{index}]", {}, message)
        for field, given, rest in (("id", term.id, term.alias), ("alias", term.alias, term.id)):
            if given and (others or rest):
                message = f"'{field}' is mutually exclusive, cannot be set with a combination of other fields"
                yield invalid(f"{path}[{index}]", {}, message)
    if len(terms) > 1 and any(term.alias for term in terms):
        message = "'alias' is mutually exclusive, cannot be set with a combination of other amiSelectorTerms"
        yield invalid(path, [], message)


def _empty_terms(spec: EC2NodeClassSpec) -> Iterator[Finding]:
    for index, subnet in enumerate(spec.subnet_selector_terms):
        if not (subnet.tags or subnet.id):
            yield invalid(f"spec.subnetSelectorTerms[{index}]", {}, "expected at least one, got none, ['tags', 'id']")
    for index, group in enumerate(spec.security_group_selector_terms):
        if not (group.tags or group.id or group.name):
            message = "expected at least one, got none, ['tags', 'id', 'name']"
            yield invalid(f"spec.securityGroupSelectorTerms[{index}]", {}, message)


def _block_devices(spec: EC2NodeClassSpec) -> Iterator[Finding]:
    path = "spec.blockDeviceMappings"
    for index, mapping in enumerate(spec.block_device_mappings):
        if mapping.ebs is None:
            continue
        if mapping.ebs.volume_size is not None:
            yield from names.amount_of(mapping.ebs.volume_size, f"{path}[{index}].ebs.volumeSize")
        elif not mapping.ebs.snapshot_id:
            yield invalid(f"{path}[{index}].ebs", {}, "snapshotID or volumeSize must be defined")
    if sum(mapping.root_volume for mapping in spec.block_device_mappings) > 1:
        yield invalid(path, [], "must have only one blockDeviceMappings with rootVolume")
