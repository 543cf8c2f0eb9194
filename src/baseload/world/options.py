"""The options file: controller settings under the tools' own names, for every command the same file.

A command takes the settings that it knows and passes over those of the others. A name that no command knows is a
mistake, and so is a value of the wrong form; all are listed, each with what is allowed.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

import msgspec

from baseload.decide.lifecycle.repair_policies import Policy
from baseload.decide.provision.options import FEATURE_GATES, Options
from baseload.kube import kinds, one_map
from baseload.kube.reading import Mistyped
from baseload.kube.types.core import TopologySpreadConstraint
from baseload.values import duration, instant, quantity
from baseload.values.errors import BadInput, Fault
from baseload.values.instant import SECOND
from baseload.values.label import is_qualified_name

T = TypeVar("T")

_OTHERS: Final = """
    batchIdleDuration batchMaxDuration cpuRequests admissionConfig
    unneededSince scaleUpRequests backoffUntil lastScaleUpTime lastScaleDownDeleteTime lastScaleDownFailTime
    scanInterval maxNodesTotal coresTotal memoryTotal expander estimator balanceSimilarNodeGroups balancingIgnoreLabel
    balancingLabel memoryDifferenceRatio maxFreeDifferenceRatio maxAllocatableDifferenceRatio maxNodesPerScaleup
    maxNodegroupBinpackingDuration maxBinpackingTime fastpathBinpackingEnabled newPodScaleUpDelay
    expendablePodsPriorityCutoff scaleUpFromZero enforceNodeGroupMinSize parallelScaleUp salvoScaleUp
    salvoScaleUpBudget maxNodeProvisionTime maxNodeStartupTime initialNodeGroupBackoffDuration
    maxNodeGroupBackoffDuration nodeGroupBackoffResetTimeout okTotalUnreadyCount maxTotalUnreadyPercentage forceDs
    scaleDownEnabled scaleDownUnreadyEnabled scaleDownDelayAfterAdd scaleDownDelayAfterDelete
    scaleDownDelayAfterFailure scaleDownDelayTypeLocal scaleDownUnneededTime scaleDownUnreadyTime
    scaleDownUtilizationThreshold scaleDownGpuUtilizationThreshold ignoreDaemonsetsUtilization
    ignoreMirrorPodsUtilization maxScaleDownParallelism maxDrainParallelism unremovableNodeRecheckTimeout
    scaleDownSimulationTimeout skipNodesWithSystemPods blockingSystemPodDistruptionTimeout skipNodesWithLocalStorage
    skipNodesWithCustomControllerPods minReplicaCount nodeDeletionCandidateTtl maxGracefulTerminationSec
    maxPodEvictionTime nodeDeleteDelayAfterTaint nodeDeletionDelayTimeout cordonNodeBeforeTerminating
    daemonsetEvictionForOccupiedNodes daemonsetEvictionForEmptyNodes maxBulkSoftTaintCount maxBulkSoftTaintTime
    nodeInfoCacheExpireTime forceDeleteUnregisteredNodes forceDeleteFailedNodes awsUseStaticInstanceList
    bypassedSchedulerNames allowedSchedulerNames namespace writeStatusConfigmap startupTaint ignoreTaint
    startupTaintPrefix statusTaint scaleFromUnschedulable
"""
OTHERS: Final = frozenset(_OTHERS.split())
"""What other commands take from the same file."""

_OWN: Final = (
    "preferencePolicy",
    "minValuesPolicy",
    "ignoreDraRequests",
    "ignoreDRARequests",
    "featureGates",
    "schedulerConfig",
    "now",
    "repairPolicies",
    "interruptionMessages",
    "cloudInstances",
    "vmMemoryOverheadPercent",
    "reservedENIs",
    "perNodeHour",
    "holdRepeatedDisruption",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the file decides: the provisioning decision's options, and what the provider adds to a catalogue."""

    options: Options = field(default_factory=Options)
    vm_memory_overhead_percent: str = "0.075"
    reserved_enis: int = 0
    batch_idle: int = 1 * SECOND
    batch_longest: int = 10 * SECOND


class _Form(NamedTuple):
    """A form that a value must have; `read` raises ValueError for another one."""

    read: Callable[[object], object]
    allowed: str


def read(path: str) -> Settings:
    """The settings of a file; raises BadInput with all that is wrong in it."""
    return of_tree(one_map.read(path), path)


def of_tree(tree: object, file: str) -> Settings:
    """The settings that a decoded file holds."""
    if not isinstance(tree, dict):
        raise BadInput([Fault("is no map of settings", file=file, allowed="e.g. preferencePolicy: Ignore")])
    reader = _Reader(file)
    settings = reader.settings(tree)
    if reader.faults:
        raise BadInput(reader.faults)
    return settings


class _Reader:
    """One file under reading; faults are collected in the order of the settings."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.faults: list[Fault] = []

    def settings(self, tree: dict[str, object]) -> Settings:
        self.unknown("", tree, (*_OWN, *sorted(OTHERS)), shown=_OWN)
        batch_idle = self.value(tree, "batchIdleDuration", _DURATION, 1 * SECOND)
        batch_longest = self.value(tree, "batchMaxDuration", _DURATION, 10 * SECOND)
        self.value(tree, "cpuRequests", _POSITIVE, 1)
        return Settings(
            options=Options(
                preference_policy=self.value(tree, "preferencePolicy", _one_of("Respect", "Ignore"), "Respect"),
                min_values_policy=self.value(tree, "minValuesPolicy", _one_of("Strict", "BestEffort"), "Strict"),
                ignore_dra_requests=all(
                    self.value(tree, name, _BOOLEAN, True) for name in ("ignoreDraRequests", "ignoreDRARequests")
                ),
                per_node_hour=self.value(tree, "perNodeHour", _MONEY, 0.0),
                hold_repeated_disruption=self.value(tree, "holdRepeatedDisruption", _BOOLEAN, False),
                feature_gates=self.gates(tree.get("featureGates")),
                default_spread=self.default_spread(tree.get("schedulerConfig")),
                repair_policies=self.policies(tree.get("repairPolicies")),
                interruption_messages=self.value(tree, "interruptionMessages", _MESSAGES, ()),
                cloud_instances=self.value(tree, "cloudInstances", _NAMES, None),
                now=self.value(tree, "now", _INSTANT, None),
            ),
            vm_memory_overhead_percent=self.value(tree, "vmMemoryOverheadPercent", _SHARE, "0.075"),
            reserved_enis=self.value(tree, "reservedENIs", _COUNT, 0),
            batch_idle=batch_idle,
            batch_longest=batch_longest,
        )

    def fault(self, path: str, message: str, allowed: str = "") -> None:
        self.faults.append(Fault(message, file=self.file, path=path, allowed=allowed))

    def unknown(self, at: str, tree: Iterable[str], known: Iterable[str], shown: Iterable[str]) -> None:
        """Notes the names that are none of the known ones."""
        for name in tree:
            if name not in known:
                near = kinds.most_similar(name, known)
                hint = f"did you mean {near}? " if near else ""
                self.fault(f"{at}{name}", "is no known setting", f"{hint}allowed: {', '.join(shown)}")

    def value(self, tree: dict[str, object], name: str, form: _Form, default: T) -> T:
        """A setting's value, or the default where it is absent or faulty."""
        given = tree.get(name)
        if given is None:
            return default
        try:
            return form.read(given)  # type: ignore[return-value]  # the form is that of the default
        except ValueError as error:
            self.fault(name, f"Invalid value: {_shown(given)}", str(error) or form.allowed)
            return default

    def gates(self, given: object) -> dict[str, bool]:
        if given is None:
            return {}
        if not isinstance(given, dict):
            self.fault("featureGates", f"Invalid value: {_shown(given)}", "a map, e.g. {NodeOverlay: true}")
            return {}
        self.unknown("featureGates.", given, FEATURE_GATES, shown=FEATURE_GATES)
        return {name: self.gate(name, value) for name, value in given.items() if name in FEATURE_GATES}

    def gate(self, name: str, value: object) -> bool:
        if not isinstance(value, bool):
            self.fault(f"featureGates.{name}", f"Invalid value: {_shown(value)}", _BOOLEAN.allowed)
        return value is True

    def policies(self, given: object) -> tuple[Policy, ...] | None:
        """Which conditions of nodes are unwell, and how long that is tolerated."""
        if given is None:
            return None
        if not isinstance(given, list):
            self.fault("repairPolicies", f"Invalid value: {_shown(given)}", "a list of policies")
            return None
        read = [self.policy(item, f"repairPolicies[{index}]") for index, item in enumerate(given)]
        return tuple(policy for policy in read if policy is not None)

    def policy(self, item: object, path: str) -> Policy | None:
        known = ("conditionType", "conditionStatus", "tolerationDuration")
        if not isinstance(item, dict):
            self.fault(path, f"Invalid value: {_shown(item)}", f"a map with {', '.join(known)}")
            return None
        self.unknown(f"{path}.", item, known, shown=known)
        before = len(self.faults)
        type = self.below(item, path, "conditionType", _TEXT)
        status = self.below(item, path, "conditionStatus", _one_of("True", "False", "Unknown"))
        tolerated = self.below(item, path, "tolerationDuration", _DURATION)
        return Policy(type, status, tolerated) if len(self.faults) == before else None  # type: ignore[arg-type]

    def below(self, item: dict[str, object], path: str, name: str, form: _Form) -> object:
        """A required field of a map."""
        try:
            return form.read(item.get(name))
        except ValueError:
            given = item.get(name)
            said = "is required" if given is None else f"Invalid value: {_shown(given)}"
            self.fault(f"{path}.{name}", said, form.allowed)
            return None

    def default_spread(self, given: object) -> tuple[TopologySpreadConstraint, ...]:
        """schedulerConfig.podTopologySpread.defaultConstraints."""
        path = "schedulerConfig.podTopologySpread"
        constraints = self.map_below(given, "schedulerConfig", "podTopologySpread")
        if not isinstance(constraints, list):
            constraints = self.map_below(constraints, path, "defaultConstraints")
            path += ".defaultConstraints"
        if constraints is None:
            return ()
        if not isinstance(constraints, list):
            self.fault(path, f"Invalid value: {_shown(constraints)}", "a list of topology spread constraints")
            return ()
        read = [self.constraint(item, f"{path}[{index}]") for index, item in enumerate(constraints)]
        return tuple(constraint for constraint in read if constraint is not None)

    def map_below(self, given: object, path: str, name: str) -> object:
        """What a map that has one field alone holds in it."""
        if given is None:
            return None
        if not isinstance(given, dict):
            self.fault(path, f"Invalid value: {_shown(given)}", f"a map with {name}")
            return None
        self.unknown(f"{path}.", given, (name,), shown=(name,))
        return given.get(name)

    def constraint(self, item: object, path: str) -> TopologySpreadConstraint | None:
        names = msgspec.structs.fields(TopologySpreadConstraint)
        if not isinstance(item, dict):
            self.fault(path, f"Invalid value: {_shown(item)}", "a map")
            return None
        known = [f.encode_name for f in names if f.encode_name != "labelSelector"]
        before = len(self.faults)
        self.unknown(f"{path}.", item, known, shown=known)
        try:
            read = msgspec.convert(item, TopologySpreadConstraint)
        except msgspec.ValidationError as error:
            mistyped = Mistyped(error, path)
            self.fault(mistyped.path, mistyped.message)
            return None
        if read.max_skew < 1:
            self.fault(f"{path}.maxSkew", f"Invalid value: {read.max_skew}", "at least 1")
        if not is_qualified_name(read.topology_key):
            self.fault(f"{path}.topologyKey", f"Invalid value: {_shown(read.topology_key)}", "a label key")
        if read.when_unsatisfiable not in ("DoNotSchedule", "ScheduleAnyway"):
            allowed = "DoNotSchedule or ScheduleAnyway"
            self.fault(f"{path}.whenUnsatisfiable", f"Invalid value: {_shown(read.when_unsatisfiable)}", allowed)
        return read if len(self.faults) == before else None


def _shown(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else text[:60] + "…"


def _one_of(*names: str) -> _Form:
    def read(given: object) -> object:
        if given not in names:
            raise ValueError
        return given

    return _Form(read, f"one of {', '.join(names)}")


def _boolean(given: object) -> object:
    if not isinstance(given, bool):
        raise ValueError
    return given


def _instant(given: object) -> object:
    if not isinstance(given, str):
        raise ValueError
    return instant.parse(given)


def _duration(given: object) -> object:
    if not isinstance(given, str) or duration.parse(given) < 0:
        raise ValueError
    return duration.parse(given)


def _text(given: object) -> object:
    if not isinstance(given, str) or not given:
        raise ValueError
    return given


def _messages(given: object) -> object:
    """Bodies of messages, each a map or the text of one."""
    if not isinstance(given, list) or not all(isinstance(item, dict | str) for item in given):
        raise ValueError
    return tuple(item if isinstance(item, str) else msgspec.json.encode(item).decode() for item in given)


def _names(given: object) -> object:
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        raise ValueError
    return frozenset(given)


def _share(given: object) -> object:
    """A share as decimal digits, which stay exact."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise ValueError
    text = str(given)
    if not text.replace(".", "", 1).isdecimal() or not text.isascii() or not 0 <= float(text) < 1:
        raise ValueError
    return text


def _count(given: object) -> object:
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given < 2**31:
        raise ValueError
    return given


def _money(given: object) -> object:
    """Dollars."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < 1e6:
        raise ValueError
    return float(given)


def _positive(given: object) -> object:
    """Thousandths of a CPU; a quantity or a plain number."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise ValueError
    if isinstance(given, float) and not math.isfinite(given):
        raise ValueError
    if quantity.parse(given) <= 0:
        raise ValueError
    return given


_BOOLEAN: Final = _Form(_boolean, "true or false")
_INSTANT: Final = _Form(_instant, "an instant in RFC 3339, e.g. '2026-01-10T12:00:00Z'")
_DURATION: Final = _Form(_duration, "a duration, e.g. 10s")
_TEXT: Final = _Form(_text, "a text, e.g. Ready")
_MESSAGES: Final = _Form(_messages, "a list of messages, each a map in EventBridge's form or its JSON")
_NAMES: Final = _Form(_names, "a list of provider IDs, e.g. [aws:///us-east-1a/i-0abc]")
_SHARE: Final = _Form(_share, "a share from 0 to below 1, e.g. 0.075")
_COUNT: Final = _Form(_count, "a whole number, 0 or more")
_MONEY: Final = _Form(_money, "dollars an hour, 0 or more, e.g. 0.03")
_POSITIVE: Final = _Form(_positive, "an amount above 0, e.g. 1000")
