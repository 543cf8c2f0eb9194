"""JSON patch, RFC 6902, by the jsonpatch library; its errors become the API server's here and nowhere else.

Kubernetes departs from the RFC in two points, on which clients build: `replace` sets a field that is not there, as
kubectl's rollout undo needs, and `test` takes a field that is not there for null.

A patch that is no patch is a bad request.
One that does not fit the object (a test that fails, a path that is not there) is unprocessable.
The server's message names no cause; the chained exception does.
"""

from copy import deepcopy

import jsonpatch
import jsonpointer

from baseload.kube.merge import go_text
from baseload.kube.merge.refusal import PatchError, bad_request, bounded, unprocessable
from baseload.kube.merge.tree import Object

MOST_OPERATIONS = 10_000
_OPERATION = "handlers.jsonPatchOp"


@bounded
def patched(target: Object, patch: object) -> Object:
    """The object after the operations, one after the other; all of them or none."""
    if patch is None:
        return target
    if not isinstance(patch, list):
        raise bad_request(f"error decoding patch: {go_text.cannot(patch, f'[]{_OPERATION}')}")
    for operation in patch:
        if not isinstance(operation, dict):
            raise bad_request(f"error decoding patch: {go_text.cannot(operation, _OPERATION)}")
    if len(patch) > MOST_OPERATIONS:
        wording = f"The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {len(patch)}"
        raise PatchError(413, "RequestEntityTooLarge", wording)
    try:
        result: object = deepcopy(target)
        for operation in patch:
            result = jsonpatch.JsonPatch(_of_rfc(operation, result)).apply(result, in_place=True)
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, TypeError) as error:
        raise unprocessable() from error
    if not isinstance(result, dict):
        raise unprocessable()
    return result


def _of_rfc(operation: dict[str, object], target: object) -> list[dict[str, object]]:
    """The operation as the RFC has it: `replace` of what is not there adds it, a `test` for null of it says nothing."""
    name, path = operation.get("op"), operation.get("path")
    if name not in ("replace", "test") or not isinstance(path, str) or not path:
        return [operation]
    holder, last = jsonpointer.JsonPointer(path).to_last(target)
    if not isinstance(holder, dict) or last in holder:
        return [operation]
    if name == "replace":
        return [{**operation, "op": "add"}]
    return [] if operation.get("value") is None else [operation]
