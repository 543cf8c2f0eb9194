"""The class that is the default among those of a kind."""

from collections.abc import Iterable

from baseload.embedded.store.record import Record


def default(classes: Iterable[Record], *annotations: str) -> str:
    """The name of the newest class that is marked by one of the annotations; "" where none is."""
    marked = [
        record for record in classes if any(record.shared.annotations.get(name) == "true" for name in annotations)
    ]
    newest = max((record.created for record in marked), default="")
    return min((record.name for record in marked if record.created == newest), default="")
