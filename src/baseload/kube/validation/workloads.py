"""What keeps a number of pods running: deployments, sets, controllers, and the revisions of their templates."""

from typing import Any, Final

from baseload.kube.validation import claims, metadata, names, pods
from baseload.kube.validation.fault import (
    Faults,
    Tree,
    among,
    forbidden,
    immutable,
    invalid,
    not_negative,
    required,
    unsupported,
)

_MISMATCH: Final = "`selector` does not match template `labels`"
_SELECTOR: Final = "invalid label selector"


def deployment(tree: Tree, old: Tree | None) -> Faults:
    """A Deployment."""
    spec = tree.get("spec", {})
    yield from not_negative("spec.replicas", spec.get("replicas"))
    yield from _selector(spec, "deployment", is_told=True)
    yield from _template(spec, "ReplicaSet")
    yield from _strategy(spec.get("strategy", {}))
    ready = spec.get("minReadySeconds", 0)
    yield from not_negative("spec.minReadySeconds", ready)
    yield from not_negative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None:
        yield from not_negative("spec.progressDeadlineSeconds", deadline)
        if deadline <= ready:
            yield invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")
    yield from _same_selector(spec, old)


def _same_selector(spec: Tree, old: Tree | None) -> Faults:
    if old is not None and spec.get("selector") != old.get("spec", {}).get("selector"):
        yield immutable("spec.selector", spec.get("selector"))


def _selector(spec: Tree, kind: str, *, is_told: bool) -> Faults:
    selector = spec.get("selector")
    if selector is None:
        yield required("spec.selector")
        return
    wrong = list(metadata.selector(selector, "spec.selector"))
    yield from wrong
    if metadata.is_empty(selector):
        yield invalid("spec.selector", selector, f"empty selector is invalid for {kind}")
    if wrong and is_told:
        yield invalid("spec.selector", selector, _SELECTOR)


def _template(spec: Tree, kind: str) -> Faults:
    """The template of a workload whose selector must select the pods made from it."""
    selector, template = spec.get("selector"), spec.get("template", {})
    if selector is not None and any(metadata.selector(selector, "")):
        return
    labels = template.get("metadata", {}).get("labels")
    is_empty = selector is not None and metadata.is_empty(selector)
    if not is_empty and (selector is None or not metadata.selects(selector, labels or {})):
        yield invalid("spec.template.metadata.labels", labels, _MISMATCH)
    yield from pods.template(template, "spec.template")
    yield from _always(template, kind)


def _always(template: Tree, kind: str) -> Faults:
    spec = template.get("spec", {})
    policy = spec.get("restartPolicy")
    if policy in ("OnFailure", "Never"):
        yield unsupported("spec.template.spec.restartPolicy", policy, ("Always",))
    if kind and spec.get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {kind} is not Supported"
        yield forbidden("spec.template.spec.activeDeadlineSeconds", why)


def _strategy(given: Tree) -> Faults:
    kind, rolling = given.get("type"), given.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            why = "may not be specified when strategy `type` is 'Recreate'"
            yield forbidden("spec.strategy.rollingUpdate", why)
    elif kind == "RollingUpdate":
        yield from _rolling(rolling or {}, "spec.strategy.rollingUpdate")
    else:
        told = {"Type": kind, "RollingUpdate": _told(rolling, "maxUnavailable", "maxSurge")}
        yield unsupported("spec.strategy", told, ("Recreate", "RollingUpdate"))


def _told(given: Tree | None, *fields: str) -> Any:
    """A struct as Go prints it."""
    return None if given is None else {field[0].upper() + field[1:]: given.get(field) for field in fields}


def _rolling(given: Tree, path: str) -> Faults:
    lost, more = given.get("maxUnavailable"), given.get("maxSurge")
    yield from names.share(f"{path}.maxUnavailable", lost)
    yield from names.share(f"{path}.maxSurge", more)
    if not names.share_number(lost) and not names.share_number(more):
        yield invalid(f"{path}.maxUnavailable", lost, "may not be 0 when `maxSurge` is 0")
    yield from names.at_most_all(f"{path}.maxUnavailable", lost)


def replica_set(tree: Tree, old: Tree | None) -> Faults:
    """A ReplicaSet."""
    spec = tree.get("spec", {})
    yield from not_negative("spec.replicas", spec.get("replicas"))
    yield from not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    yield from _selector(spec, "deployment", is_told=True)
    yield from _template(spec, "ReplicaSet")
    yield from _same_selector(spec, old)


def stateful_set(tree: Tree, old: Tree | None) -> Faults:
    """A StatefulSet."""
    spec = tree.get("spec", {})
    policy = spec.get("podManagementPolicy")
    if policy not in ("OrderedReady", "Parallel"):
        yield invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
    yield from _set_strategy(spec.get("updateStrategy", {}))
    retention = spec.get("persistentVolumeClaimRetentionPolicy", {})
    for field in ("whenDeleted", "whenScaled"):
        path = f"spec.persistentVolumeClaimRetentionPolicy.{field}"
        yield from among(path, retention.get(field), ("Retain", "Delete"))
    for index, claim in enumerate(spec.get("volumeClaimTemplates", ())):
        yield from claims.spec(claim.get("spec", {}), f"spec.volumeClaimTemplates[{index}].spec")
    yield from not_negative("spec.replicas", spec.get("replicas"))
    yield from not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    yield from not_negative("spec.ordinals.start", spec.get("ordinals", {}).get("start"))
    if service := spec.get("serviceName"):
        yield from names.each(names.dns_label(service), "spec.serviceName", service)
    yield from _selector(spec, "statefulset", is_told=False)
    yield from _template({**spec, "template": _with_claims(spec)}, "StatefulSet")
    if old is not None:
        before = old.get("spec", {})
        for field in ("selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy"):
            if spec.get(field) != before.get(field):
                yield immutable(f"spec.{field}", spec.get(field))


def _with_claims(spec: Tree) -> Tree:
    """The template with a volume for each claim that every pod gets, which stands for one of the same name."""
    template: Tree = spec.get("template", {})
    made = [claim.get("metadata", {}).get("name", "") for claim in spec.get("volumeClaimTemplates", ())]
    if not made:
        return template
    inner = template.get("spec", {})
    own = [one for one in inner.get("volumes", ()) if one.get("name") not in made]
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in made]
    return {**template, "spec": {**inner, "volumes": [*volumes, *own]}}


def _set_strategy(given: Tree) -> Faults:
    path, kind, rolling = "spec.updateStrategy", given.get("type"), given.get("rollingUpdate")
    if kind == "OnDelete":
        if rolling is not None:
            told = _told(rolling, "partition", "maxUnavailable")
            told["Partition"] = told["Partition"] or 0
            yield invalid(f"{path}.rollingUpdate", told, "only allowed for updateStrategy 'RollingUpdate'")
    elif kind == "RollingUpdate":
        yield from not_negative(f"{path}.rollingUpdate.partition", (rolling or {}).get("partition"))
        lost = (rolling or {}).get("maxUnavailable")
        if lost is not None:
            at = f"{path}.rollingUpdate.maxUnavailable"
            yield from names.share(at, lost)
            if not names.share_number(lost):
                yield invalid(at, lost, "cannot be 0")
            yield from names.at_most_all(at, lost)
    else:
        told = {"Type": kind, "RollingUpdate": _told(rolling, "partition", "maxUnavailable")}
        yield invalid(path, told, "must be 'RollingUpdate' or 'OnDelete'")


def daemon_set(tree: Tree, old: Tree | None) -> Faults:
    """A DaemonSet."""
    spec = tree.get("spec", {})
    yield from _same_selector(spec, old)
    yield from _daemon_selector(spec)
    yield from pods.template(spec.get("template", {}), "spec.template")
    yield from _always(spec.get("template", {}), "DaemonSet")
    yield from not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    yield from _daemon_strategy(spec.get("updateStrategy", {}))
    yield from not_negative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))


def _daemon_selector(spec: Tree) -> Faults:
    selector = spec.get("selector")
    wrong = list(metadata.selector(selector, "spec.selector"))
    yield from wrong
    labels = spec.get("template", {}).get("metadata", {}).get("labels")
    if not wrong and (selector is None or not metadata.selects(selector, labels or {})):
        yield invalid("spec.template.metadata.labels", labels, _MISMATCH)
    if selector is not None and metadata.is_empty(selector):
        yield invalid("spec.selector", selector, "empty selector is invalid for daemonset")


def _daemon_strategy(given: Tree) -> Faults:
    path, kind, rolling = "spec.updateStrategy", given.get("type"), given.get("rollingUpdate")
    if kind == "OnDelete":
        return
    if kind != "RollingUpdate":
        told = {"Type": kind, "RollingUpdate": _told(rolling, "maxUnavailable", "maxSurge")}
        yield unsupported(path, told, ("RollingUpdate", "OnDelete"))
        return
    at = f"{path}.rollingUpdate"
    lost, more = (rolling or {}).get("maxUnavailable"), (rolling or {}).get("maxSurge")
    for name, share in (("maxUnavailable", lost), ("maxSurge", more)):
        yield from names.share(f"{at}.{name}", share)
        yield from names.at_most_all(f"{at}.{name}", share)
    has_lost, has_more = names.share_number(lost) > 0, names.share_number(more) > 0
    if has_lost and has_more:
        yield invalid(f"{at}.maxSurge", more, "may not be set when maxUnavailable is non-zero")
    elif not has_lost and not has_more and names.share_number(lost) == 0 == names.share_number(more):
        yield required(f"{at}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def controller(tree: Tree, old: Tree | None) -> Faults:
    """A ReplicationController."""
    spec = tree.get("spec", {})
    yield from not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    selector, template = spec.get("selector"), spec.get("template")
    if not selector:
        yield required("spec.selector")
    yield from not_negative("spec.replicas", spec.get("replicas"))
    if template is None:
        yield required("spec.template")
        return
    labels = template.get("metadata", {}).get("labels") or {}
    if selector and any(labels.get(key) != value for key, value in selector.items()):
        yield invalid("spec.template.metadata.labels", labels, _MISMATCH)
    yield from pods.template(template, "spec.template")
    yield from _always(template, "ReplicationController")


def revision(tree: Tree, old: Tree | None) -> Faults:
    """A ControllerRevision."""
    if tree.get("data") is None:
        yield required("data", "data is mandatory")
    yield from not_negative("revision", tree.get("revision"))
    if old is not None and tree.get("data") != old.get("data"):
        yield immutable("data", tree.get("data"))
