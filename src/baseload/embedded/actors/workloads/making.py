"""Making pods from a template: their JSON once for all that are alike, slow start, and the hash of a template."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from baseload.embedded.actors.workloads.ownership import reference
from baseload.embedded.store.errors import StatusError
from baseload.embedded.store.record import Body, Record

Tree = dict[str, object]

BURST: Final = 500  # pods made or deleted in one sync
_FNV: Final = 0x811C9DC5, 0x01000193  # FNV-1a, 32 bits: offset and prime
_HASH_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"


def batches(count: int) -> Iterator[int]:
    """Slow start: 1, 2, 4 … until so many are tried."""
    size = 1
    while count > 0:
        size = min(size, count)
        yield size
        count -= size
        size *= 2


def slowly(count: int, make: Callable[[], None]) -> tuple[int, StatusError | None]:
    """Tries so many, batch after batch; where one of a batch fails, no further batch is begun.

    Gives how many succeeded, and the first error.
    """
    made, error = 0, None
    for size in batches(count):
        for _ in range(size):
            try:
                make()
                made += 1
            except StatusError as refused:
                error = error or refused
        if error is not None:
            break
    return made, error


def template_hash(template: object, salt: int = 0) -> str:
    """A name for the content of a template: FNV-1a of its canonical JSON, in the letters of generated names.

    A real controller-manager hashes a dump of its Go structs, which nothing else can repeat. `salt` is the count of
    collisions so far.
    """
    value, prime = _FNV
    for byte in canonical(template) + (str(salt).encode() if salt else b""):
        value = ((value ^ byte) * prime) & 0xFFFF_FFFF
    return "".join(_HASH_LETTERS[ord(letter) % len(_HASH_LETTERS)] for letter in str(value))


def canonical(tree: object) -> bytes:
    """JSON that is the same for equal content."""
    return msgspec.json.encode(tree, order="sorted")


def pod_tree(owner: Record, template: Tree, labels: Mapping[str, str] | None = None) -> Tree:
    """A pod of a template, owned and without a name; what is added to it is the caller's."""
    held = template.get("metadata")
    given: Tree = dict(held) if isinstance(held, dict) else {}
    metadata: Tree = {}
    own = given.get("labels")
    told = {**(own if isinstance(own, dict) else {}), **(labels or {})}
    if told:
        metadata["labels"] = told
    for name in ("annotations", "finalizers"):
        if given.get(name):
            metadata[name] = given[name]
    metadata["ownerReferences"] = [reference(owner)]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}}


def prefix(owner: str) -> str:
    """The generateName of an owner's pods."""
    return f"{owner}-"


def generated_body(owner: Record, template: Tree) -> bytes:
    """The JSON of a pod of which the server makes the name."""
    tree = pod_tree(owner, template)
    metadata = tree["metadata"]
    assert isinstance(metadata, dict)
    tree["metadata"] = {"generateName": prefix(owner.name), **metadata}
    return msgspec.json.encode(tree)


class Bodies:
    """What was worked out of an object's sections, kept as long as the object has those very sections."""

    def __init__(self, work: Callable[[Record], bytes]) -> None:
        self._work = work
        self._known: dict[str, tuple[str, Body, bytes]] = {}  # key -> (uid, sections, what came out)

    def of(self, record: Record) -> bytes:
        """What comes out for an object as it is now."""
        known = self._known.get(record.key)
        if known is None or known[0] != record.uid or known[1] is not record.body:
            known = self._known[record.key] = record.uid, record.body, self._work(record)
        return known[2]

    def forget(self, key: str) -> None:
        """The object is no more."""
        self._known.pop(key, None)


def template_of(record: Record) -> Tree:
    """spec.template, decoded anew."""
    spec = record.body.tree().get("spec")
    template = spec.get("template") if isinstance(spec, dict) else None
    return dict(template) if isinstance(template, dict) else {}
