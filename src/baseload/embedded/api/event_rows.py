"""What stands in the rows of events: those of old that count themselves, and those of new that come in series."""

from baseload.embedded.api import ages
from baseload.embedded.api.cells import Tree
from baseload.embedded.api.pod_rows import at, text
from baseload.embedded.store.record import Json


def involved(tree: Tree, _: int) -> str:
    """What the event is about."""
    kind, name = text(tree, "involvedObject.kind").lower(), text(tree, "involvedObject.name")
    return f"{kind}/{name}" if name else kind


def first_seen(tree: Tree, now: int) -> str:
    """When it was seen first."""
    return ages.age(at(tree, "firstTimestamp") or at(tree, "eventTime"), now)


def last_seen(tree: Tree, now: int) -> str:
    """When it was seen last."""
    if at(tree, "series") is not None:
        return ages.age(at(tree, "series.lastObservedTime"), now)
    held = at(tree, "lastTimestamp")
    return ages.age(held, now) if held else first_seen(tree, now)


def times(tree: Tree, _: int) -> Json:
    """How often it was seen."""
    return at(tree, "series.count") or at(tree, "count") or 1


def source(tree: Tree, _: int) -> str:
    """Who tells of it, and where he runs."""
    component = text(tree, "source.component") or text(tree, "reportingComponent")
    instance = text(tree, "source.host") or text(tree, "reportingInstance")
    return f"{component}, {instance}" if instance else component
