"""JSON patch, RFC 6902, by the jsonpatch library; its errors become the API server's here and nowhere else.

A patch that is no patch is a bad request.
One that does not fit the object (a test that fails, a path that is not there) is unprocessable.
The server's message names no cause; the chained exception does.
"""

import jsonpatch
import jsonpointer

from baseload.kube.merge.refusal import PatchError, bad_request, bounded, unprocessable
from baseload.kube.merge.tree import Object

MOST_OPERATIONS = 10_000


@bounded
def patched(target: Object, patch: object) -> Object:
    """The object after the operations, one after the other; all of them or none."""
    if not isinstance(patch, list) or not all(isinstance(operation, dict) for operation in patch):
        raise bad_request("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
    if len(patch) > MOST_OPERATIONS:
        wording = f"The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {len(patch)}"
        raise PatchError(413, "RequestEntityTooLarge", wording)
    try:
        result = jsonpatch.JsonPatch(patch).apply(target)
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, TypeError) as error:
        raise unprocessable() from error
    if not isinstance(result, dict):
        raise unprocessable()
    return result
