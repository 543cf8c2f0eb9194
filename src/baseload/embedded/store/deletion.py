"""What a delete does: remove the object, or mark it and let grace and finalizers hold it a while.

The mark is metadata.deletionTimestamp, the moment at which the grace ends. A later delete may only shorten the grace.
An object goes when it is marked, its grace is 0 (who runs it says so by deleting it with 0) and no finalizer holds it.
"""

from dataclasses import dataclass
from typing import Final, Literal

from msgspec.structs import replace

from baseload.embedded.store import errors
from baseload.embedded.store.record import Deletion, Record
from baseload.values import instant

Propagation = Literal["Background", "Foreground", "Orphan"]

FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"


@dataclass(frozen=True, slots=True)
class Options:
    """DeleteOptions; "" and None and 0 where the client said nothing."""

    grace_seconds: int | None = None
    propagation: Propagation | None = None
    uid: str = ""
    version: int = 0


DEFAULT: Final = Options()


def check(record: Record, options: Options) -> None:
    """Refuses where the object is not the one that the client means."""
    if options.uid and options.uid != record.uid:
        raise errors.other_than_meant(
            record.resource,
            record.name,
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({record.uid}). "
            "The object might have been deleted and then recreated",
        )
    if options.version and options.version != record.version:
        raise errors.other_than_meant(
            record.resource,
            record.name,
            f"the ResourceVersion in the precondition ({options.version}) does not match the ResourceVersion in record "
            f"({record.version}). The object might have been modified",
        )


def marked(record: Record, options: Options, now: int) -> Record:
    """The object after the delete; it goes at once where `is_over`. The same one where the delete changes nothing."""
    finalizers = _finalizers(record, options.propagation or _by_default(record))
    grace = record.resource.grace(record, options.grace_seconds)
    old = record.deletion
    if old is None:
        deletion = Deletion(_moment(now + grace * instant.SECOND), grace)
        generation = record.generation + (record.generation > 0)
        return replace(record, finalizers=finalizers, deletion=deletion, generation=generation)
    if grace < old.grace:
        ends = instant.parse(old.timestamp) + (grace - old.grace) * instant.SECOND
        return replace(record, finalizers=finalizers, deletion=Deletion(_moment(ends), grace))
    return record if finalizers == record.finalizers else replace(record, finalizers=finalizers)


def is_over(record: Record) -> bool:
    """Whether nothing holds a marked object any more."""
    deletion = record.deletion
    if deletion is None or deletion.grace or record.finalizers:
        return False
    return not record.resource.has_spec_finalizers or not spec_finalizers(record)


def spec_finalizers(record: Record) -> list[str]:
    spec = record.body.tree().get("spec")
    finalizers = spec.get("finalizers") if isinstance(spec, dict) else None
    return [str(finalizer) for finalizer in finalizers] if isinstance(finalizers, list) else []


def _by_default(record: Record) -> Propagation | None:
    """What becomes of dependents where the client does not say; None where finalizers say it, or nothing holds."""
    held = FOREGROUND in record.finalizers or ORPHAN in record.finalizers
    return "Orphan" if record.resource.orphans and not held else None


def _finalizers(record: Record, propagation: Propagation | None) -> tuple[str, ...]:
    if propagation is None:
        return record.finalizers
    wanted = {"Foreground": FOREGROUND, "Orphan": ORPHAN}.get(propagation)
    kept = tuple(name for name in record.finalizers if name not in (FOREGROUND, ORPHAN) or name == wanted)
    return kept if wanted is None or wanted in kept else (*kept, wanted)


def _moment(nanoseconds: int) -> str:
    return instant.format(nanoseconds // instant.SECOND * instant.SECOND)
