"""A file of settings: YAML or JSON, one document."""

from collections.abc import Callable

import msgspec

from baseload.kube import documents, sources
from baseload.values.errors import BadInput, Fault


def read(path: str, *, stdin: Callable[[], bytes] | None = None) -> object:
    """What its document holds, an empty map where it is empty; BadInput where it cannot be read or holds several.

    A number may be a key, such as a share in per cent. `-` is standard input, where that may be read.
    """
    texts, faults = sources.read([path], stdin=stdin)
    found = []
    for source in texts:
        in_file, more = documents.split(source, has_number_keys=True)
        found += in_file
        faults += more
    if not faults and len(found) > 1:
        faults.append(Fault("holds more than one document", file=texts[0].file, allowed="one map of settings"))
    if faults:
        raise BadInput(faults)
    return msgspec.json.decode(found[0].raw) if found else {}
