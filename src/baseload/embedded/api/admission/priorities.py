"""The priority of pods, which their PriorityClass says; and that at most one class is the default."""

from typing import Final

from baseload.embedded.api.admission.review import Review
from baseload.embedded.store.record import Json, Record

_GROUP: Final = "scheduling.k8s.io"
_ALWAYS_PREEMPT: Final = "PreemptLowerPriority"
_CLASS: Final = "from the given PriorityClass name"
_COMPUTED: Final = "must not be provided in pod spec; priority admission controller computed"


def give_priority(review: Review) -> None:
    """Fills in the priority of a new pod, and keeps that of an old one that a client left out."""
    if not review.is_of("", "Pod") or review.subresource:
        return
    spec = review.spec
    if review.old is not None:
        for name in ("priority", "preemptionPolicy"):
            if spec.get(name) is None and (held := _held(review.old, name)) is not None:
                spec[name] = held
        return
    name, priority, policy = _of_class(review, str(spec.get("priorityClassName") or ""))
    if name:
        spec["priorityClassName"] = name
    if (told := spec.get("priority")) is not None and told != priority:
        raise review.refused(f"the integer value of priority ({told}) {_COMPUTED} {priority} {_CLASS}")
    if (told := spec.get("preemptionPolicy")) is not None and told != policy:
        raise review.refused(f"the string value of PreemptionPolicy ({told}) {_COMPUTED} {policy} {_CLASS}")
    spec["priority"], spec["preemptionPolicy"] = priority, policy


def refuse_second_default(review: Review) -> None:
    """Refuses a class that would be the default beside another."""
    if not review.is_of(_GROUP, "PriorityClass") or review.tree.get("globalDefault") is not True:
        return
    for record in review.records(_GROUP, "PriorityClass"):
        if record.name != review.name and _is_default(record):
            why = f"PriorityClass {record.name} is already marked as default. Only one default can exist"
            raise review.refused(why)


def _of_class(review: Review, name: str) -> tuple[str, int, str]:
    """The name, the value and the preemption policy that a pod takes from the class that it names, or from none."""
    if name:
        found = review.store.find(review.resource(_GROUP, "PriorityClass"), "", name)
        if found is None:
            raise review.refused(f"no PriorityClass with name {name} was found")
        return _read(found)
    classes = review.store.table(review.resource(_GROUP, "PriorityClass")).records.values()
    defaults = [_read(record) for record in classes if _is_default(record)]
    return min(defaults, key=lambda one: (one[1], one[0]), default=("", 0, _ALWAYS_PREEMPT))


def _read(record: Record) -> tuple[str, int, str]:
    body = record.body
    return record.name, int(body.field("value") or 0), body.field("preemptionPolicy") or _ALWAYS_PREEMPT


def _is_default(record: Record) -> bool:
    return record.body.field("globalDefault") == "true"


def _held(record: Record, name: str) -> Json:
    text = record.body.field(f"spec.{name}")
    return (int(text) if name == "priority" else text) if text else None
