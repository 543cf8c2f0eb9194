"""JSON merge patch, RFC 7386: null removes, maps merge, everything else replaces."""

from baseload.kube.merge import go_text
from baseload.kube.merge.refusal import bad_request, bounded
from baseload.kube.merge.tree import Object


@bounded
def patched(target: Object, patch: object) -> Object:
    """The object after the patch."""
    if not isinstance(patch, dict):
        why = f"error decoding patch: {go_text.cannot(patch, go_text.MAP)}"
        raise bad_request("Invalid JSON Patch" if patch is None else why)
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
