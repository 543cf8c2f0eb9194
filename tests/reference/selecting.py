"""Label selectors, tolerations, host ports and owners: the small matching rules of Kubernetes (§8, §13.12, §15)."""

from collections.abc import Iterable, Mapping

from .algebra import INTEGER, Manifest

Selector = tuple[tuple[str, str, tuple[str, ...]], ...]
Port = tuple[str, str, int]

SOFT = {"operator": "Exists", "effect": "PreferNoSchedule"}


def selector_of(selector: Manifest | None) -> Selector | None:
    """A label selector as a value that compares equal however it is written; None stays None (§13.5)."""
    if selector is None:
        return None
    pairs = {(key, "In", (value,)) for key, value in (selector.get("matchLabels") or {}).items()}
    listed = selector.get("matchExpressions") or ()
    pairs |= {(e["key"], e["operator"], tuple(sorted(set(e.get("values") or ())))) for e in listed}
    return tuple(sorted(pairs))


def selects(selector: Selector | None, labels: Mapping[str, str]) -> bool:
    """An empty selector selects all, a nil one none."""
    return selector is not None and all(holds(labels, *expression) for expression in selector)


def holds(labels: Mapping[str, str], key: str, operator: str, values: tuple[str, ...]) -> bool:
    if operator == "In":
        return key in labels and labels[key] in values
    if operator == "NotIn":
        return key not in labels or labels[key] not in values
    return (key in labels) == (operator == "Exists")


def labels_of(obj: Manifest) -> dict[str, str]:
    return dict(obj["metadata"].get("labels") or {})


def full_name(obj: Manifest) -> str:
    return f"{obj['metadata'].get('namespace', 'default')}/{obj['metadata']['name']}"


def uid(obj: Manifest) -> str:
    return str(obj["metadata"].get("uid") or full_name(obj))


def owned_by(obj: Manifest, api_version: str, kind: str) -> bool:
    owners = obj["metadata"].get("ownerReferences") or ()
    return any(o.get("apiVersion") == api_version and o.get("kind") == kind for o in owners)


def is_finished(pod: Manifest) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def is_terminating(obj: Manifest) -> bool:
    return bool(obj["metadata"].get("deletionTimestamp"))


def condition(obj: Manifest, kind: str) -> Manifest | None:
    listed = (obj.get("status") or {}).get("conditions") or ()
    return next((c for c in listed if c.get("type") == kind), None)


def tolerates(toleration: Manifest, taint: Manifest) -> bool:
    """§8.1, the standard rule with the numeric operators."""
    effect, key, how = (toleration.get(name) or "" for name in ("effect", "key", "operator"))
    if (effect and effect != taint.get("effect")) or (key and key != taint["key"]):
        return False
    if how == "Exists":
        return True
    wanted, value = str(toleration.get("value") or ""), str(taint.get("value") or "")
    if not key:
        return False
    if how in ("", "Equal"):
        return wanted == value
    if not INTEGER.match(wanted) or not INTEGER.match(value):
        return False
    return int(value) > int(wanted) if how == "Gt" else int(value) < int(wanted)


def untolerated(pod: Manifest, taints: Iterable[Manifest], more: Iterable[Manifest] = ()) -> Manifest | None:
    """§8.1: the first taint, of whatever effect, that the pod does not tolerate."""
    tolerations = [*(pod["spec"].get("tolerations") or ()), *more]
    return next((taint for taint in taints if not any(tolerates(t, taint) for t in tolerations)), None)


def host_ports(pod: Manifest) -> frozenset[Port]:
    """§15.1."""
    listed = (port for c in pod["spec"].get("containers") or () for port in c.get("ports") or ())
    return frozenset(
        (p.get("hostIP") or "0.0.0.0", p.get("protocol") or "TCP", p["hostPort"]) for p in listed if p.get("hostPort")
    )


def ports_clash(some: Iterable[Port], others: Iterable[Port]) -> bool:
    """§15.1."""
    anywhere = ("0.0.0.0", "::")
    others = list(others)
    return any(a[1:] == b[1:] and (a[0] == b[0] or a[0] in anywhere or b[0] in anywhere) for a in some for b in others)
