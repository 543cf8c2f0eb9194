"""Jobs, and what starts them by the clock."""

from typing import Any, Final

from baseload.kube.validation import go_structs, metadata, names, pods, schedule
from baseload.kube.validation.fault import (
    Fault,
    Faults,
    Tree,
    duplicate,
    immutable,
    invalid,
    not_negative,
    required,
    unsupported,
)

_MISMATCH: Final = "`selector` does not match template `labels`"
_UID: Final = "batch.kubernetes.io/controller-uid"
_NAMES: Final = ("batch.kubernetes.io/job-name", "job-name")
_UIDS: Final = (_UID, "controller-uid")
_MOST: Final = 100_000  # pods of an indexed job at once
_COUNTS: Final = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
_REPLACED: Final = ("Failed", "TerminatingOrFailed")
_BOTH: Final = "specifying both OnExitCodes and OnPodConditions is not supported"
_NONE: Final = "specifying one of OnExitCodes and OnPodConditions is required"
_MOVABLE: Final = ("nodeSelector", "affinity", "tolerations", "schedulingGates")
_INDEXED: Final = "requires indexed completion mode"


def job(tree: Tree, old: Tree | None) -> Faults:
    """A Job."""
    spec = tree.get("spec", {})
    if old is None:
        yield from _generated(tree, spec)
    yield from _with_selector(spec)
    if old is not None:
        yield from _changes(spec, old.get("spec", {}))


def _generated(tree: Tree, spec: Tree) -> Faults:
    """The labels and the selector that a server made, unless the client said that it chose them."""
    if spec.get("manualSelector"):
        return
    told = tree.get("metadata", {})
    labels = spec.get("template", {}).get("metadata", {}).get("labels", {})
    for keys, wanted in ((_UIDS, told.get("uid")), (_NAMES, told.get("name"))):
        for key in keys:
            if labels.get(key) != wanted:
                yield invalid(f"spec.template.metadata.labels[{key}]", _sorted(labels), f"must be '{wanted}'")
    selector = spec.get("selector") or {}
    if selector.get("matchLabels") != {_UID: told.get("uid")} or selector.get("matchExpressions"):
        yield invalid("spec.selector", _ordered(selector), "`selector` not auto-generated")


def _sorted(labels: Tree | None) -> Any:
    return None if labels is None else dict(sorted(labels.items()))


def _ordered(selector: Tree) -> Tree:
    return {name: _sorted(value) if name == "matchLabels" else value for name, value in sorted(selector.items())}


def _with_selector(spec: Tree) -> Faults:
    yield from _spec(spec, "spec")
    selector = spec.get("selector")
    if selector is None:
        yield required("spec.selector")
    else:
        yield from metadata.selector(selector, "spec.selector")
    labels = spec.get("template", {}).get("metadata", {}).get("labels")
    if selector is None or not metadata.selects(selector, labels or {}):
        yield invalid("spec.template.metadata.labels", _sorted(labels), _MISMATCH)


def _spec(spec: Tree, path: str) -> Faults:
    for name in _COUNTS:
        yield from not_negative(f"{path}.{name}", spec.get(name))
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        yield required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if (managed := spec.get("managedBy")) is not None:
        yield from names.domain_path(managed, f"{path}.managedBy")
    yield from _mode(spec, path)
    if (policy := spec.get("podFailurePolicy")) is not None:
        yield from _failures(policy, spec, f"{path}.podFailurePolicy")
    if (policy := spec.get("successPolicy")) is not None:
        yield from _success(policy, spec, f"{path}.successPolicy")
    replaced = spec.get("podReplacementPolicy")
    if replaced is not None:
        known = _REPLACED if spec.get("podFailurePolicy") is None else _REPLACED[:1]
        if replaced not in known:
            yield unsupported(f"{path}.podReplacementPolicy", replaced, known)
    yield from _template(spec, path)


def _template(spec: Tree, path: str) -> Faults:
    template = spec.get("template", {})
    yield from pods.template(template, f"{path}.template")
    restart = template.get("spec", {}).get("restartPolicy")
    at = f"{path}.template.spec.restartPolicy"
    if restart in ("", None, "Always"):
        yield required(at, 'valid values: "OnFailure", "Never"')
    elif restart not in ("OnFailure", "Never"):
        yield unsupported(at, restart, ("OnFailure", "Never"))
    elif spec.get("podFailurePolicy") is not None and restart != "Never":
        yield invalid(at, restart, 'only "Never" is supported when podFailurePolicy is specified')


def _mode(spec: Tree, path: str) -> Faults:
    mode = spec.get("completionMode")
    if mode is not None and mode not in ("NonIndexed", "Indexed"):
        yield unsupported(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        if spec.get("completions") is None:
            yield required(f"{path}.completions", "when completion mode is Indexed")
        if spec.get("parallelism", 0) > _MOST:
            why = f"must be less than or equal to {_MOST} when completion mode is Indexed"
            yield invalid(f"{path}.parallelism", spec["parallelism"], why)
        if spec.get("maxFailedIndexes", 0) > spec.get("completions", 0):
            why = "must be less than or equal to completions"
            yield invalid(f"{path}.maxFailedIndexes", spec["maxFailedIndexes"], why)
    for name in ("backoffLimitPerIndex", "maxFailedIndexes") if mode in (None, "NonIndexed") else ():
        if spec.get(name) is not None:
            yield invalid(f"{path}.{name}", spec[name], _INDEXED)


def _failures(policy: Tree, spec: Tree, path: str) -> Faults:
    inner = spec.get("template", {}).get("spec", {})
    known = {one.get("name") for field in ("containers", "initContainers") for one in inner.get(field, ())}
    for index, rule in enumerate(policy.get("rules", ())):
        yield from _rule(rule, spec, known, f"{path}.rules[{index}]")


def _rule(rule: Tree, spec: Tree, known: set[Any], at: str) -> Faults:
    action = rule.get("action", "")
    if not action:
        yield required(f"{at}.action", "valid values: [{}]".format(" ".join(f'"{action}"' for action in _ACTIONS)))
    elif action not in _ACTIONS:
        yield unsupported(f"{at}.action", action, _ACTIONS)
    elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        yield invalid(f"{at}.action", action, "requires the backoffLimitPerIndex to be set")
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
    if codes is not None:
        yield from _codes(codes, known, f"{at}.onExitCodes")
    for index, pattern in enumerate(conditions or ()):
        yield from _pattern(pattern, f"{at}.onPodConditions[{index}]")
    if codes is not None and conditions:
        yield Fault(at, f"Invalid value: {_BOTH}")
    elif codes is None and not conditions:
        yield Fault(at, f"Invalid value: {_NONE}")


def _pattern(pattern: Tree, at: str) -> Faults:
    kind = pattern.get("type", "")
    yield from names.each(names.qualified(kind), f"{at}.type", kind)
    status = pattern.get("status", "")
    if status not in ("False", "True", "Unknown"):
        yield unsupported(f"{at}.status", status, ("False", "True", "Unknown"))


def _codes(codes: Tree, known: set[Any], at: str) -> Faults:
    operator = codes.get("operator", "")
    if operator not in ("In", "NotIn"):
        yield unsupported(f"{at}.operator", operator, ("In", "NotIn"))
    name = codes.get("containerName")
    if name is not None and name not in known:
        why = "must be one of the container or initContainer names in the pod template"
        yield invalid(f"{at}.containerName", name, why)
    values = codes.get("values", [])
    if not values:
        yield invalid(f"{at}.values", values, "at least one value is required")
    seen: set[int] = set()
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            yield invalid(f"{at}.values[{index}]", value, "must not be 0 for the In operator")
        if value in seen:
            yield duplicate(f"{at}.values[{index}]", value)
        seen.add(value)


def _success(policy: Tree, spec: Tree, path: str) -> Faults:
    rules = policy.get("rules", [])
    if spec.get("completionMode") != "Indexed":
        told = {"Rules": [_success_rule(rule) for rule in rules]}
        yield invalid(path, told, _INDEXED)
    elif not rules:
        yield required(f"{path}.rules", "at least one rules must be specified when the successPolicy is specified")


def _success_rule(rule: Tree) -> Tree:
    return {"SucceededIndexes": rule.get("succeededIndexes"), "SucceededCount": rule.get("succeededCount")}


def _changes(spec: Tree, old: Tree) -> Faults:
    if spec.get("completions") != old.get("completions") and not _scales(spec, old):
        yield immutable("spec.completions", spec.get("completions"))
    if spec.get("selector") != old.get("selector"):
        yield immutable("spec.selector", spec.get("selector"))
    if spec.get("template") != old.get("template") and not _may_move(spec, old):
        yield immutable("spec.template", go_structs.printed("PodTemplateSpec", spec.get("template", {})))
    for name in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        if spec.get(name) != old.get(name):
            yield immutable(f"spec.{name}", spec.get(name))


def _scales(spec: Tree, old: Tree) -> bool:
    """Whether an indexed job's size is changed, which goes together with its parallelism."""
    return (
        spec.get("completionMode") == "Indexed"
        and spec.get("completions") is not None
        and old.get("completions") is not None
        and spec.get("completions") == spec.get("parallelism")
    )


def _may_move(spec: Tree, old: Tree) -> bool:
    """Whether a job that is suspended was only told to run elsewhere."""
    if not old.get("suspend"):
        return False
    return _fixed(spec.get("template", {})) == _fixed(old.get("template", {}))


def _fixed(template: Tree) -> Tree:
    inner = {name: value for name, value in template.get("spec", {}).items() if name not in _MOVABLE}
    return {"spec": inner}


def cron_job(tree: Tree, old: Tree | None) -> Faults:
    """A CronJob."""
    spec = tree.get("spec", {})
    told = spec.get("schedule", "")
    yield from _job_template(spec.get("jobTemplate", {}).get("spec", {}))
    if not told:
        yield required("spec.schedule")
    else:
        yield from _schedule(told, old)
    yield from not_negative("spec.startingDeadlineSeconds", spec.get("startingDeadlineSeconds"))
    yield from _zone(spec, old)
    policy = spec.get("concurrencyPolicy")
    if policy not in ("Allow", "Forbid", "Replace"):
        yield unsupported("spec.concurrencyPolicy", policy, ("Allow", "Forbid", "Replace"))
    for name in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        yield from not_negative(f"spec.{name}", spec.get(name))
    name = tree.get("metadata", {}).get("name", "")
    if old is None and len(name) > 52:  # a job is named after it, with eleven characters more
        yield invalid("metadata.name", name, "must be no more than 52 characters")


def _schedule(told: str, old: Tree | None) -> Faults:
    if wrong := schedule.wrong(told):
        yield invalid("spec.schedule", told, wrong)
    before = "" if old is None else old.get("spec", {}).get("schedule", "")
    if "TZ" in told and "TZ" not in before:
        yield invalid("spec.schedule", told, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")


def _zone(spec: Tree, old: Tree | None) -> Faults:
    zone = spec.get("timeZone")
    if zone is None or (old is not None and old.get("spec", {}).get("timeZone") == zone):
        return
    if not zone:
        yield invalid("spec.timeZone", zone, "timeZone must be nil or non-empty string")
    elif zone.lower() == "local":
        why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        yield invalid("spec.timeZone", zone, why)
    elif not schedule.is_zone(zone):
        yield invalid("spec.timeZone", zone, f"unknown time zone {zone}")


def _job_template(spec: Tree) -> Faults:
    path = "spec.jobTemplate.spec"
    yield from _spec(spec, path)
    if spec.get("selector") is not None:
        yield invalid(f"{path}.selector", spec["selector"], "`selector` will be auto-generated")
    if spec.get("manualSelector"):
        yield unsupported(f"{path}.manualSelector", True, ("nil", "false"))
