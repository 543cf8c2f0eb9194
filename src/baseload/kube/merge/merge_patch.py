"""JSON merge patch, RFC 7386: null removes, maps merge, everything else replaces."""

from baseload.kube.merge.refusal import bad_request, bounded
from baseload.kube.merge.tree import Object


@bounded
def patched(target: Object, patch: object) -> Object:
    """The object after the patch."""
    if not isinstance(patch, dict):
        raise bad_request("Invalid JSON Patch")
    return _merged(target, patch)


def _merged(target: object, patch: Object) -> Object:
    merged: Object = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            merged[key] = _merged(merged.get(key), value)
        else:
            merged[key] = value
    return merged
