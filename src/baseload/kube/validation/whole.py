"""The quick look at a whole object of one of Kubernetes' own kinds: nothing in it is unknown, and Go can read it all.

Types made from the schema let msgspec look while it decodes, as in `schema.gate`; the few values that take more than a
type to judge are judged here, in the words of `decoding`. What passes needs no further look at its shape. For what does
not, `decoding` and the list of unknown fields find out why.
"""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Final

import msgspec

from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema
from baseload.kube.schema.gate import Types
from baseload.kube.validation import decoding


class _Quantity:
    """An amount."""


class _Moment:
    """A time."""


class _Bytes:
    """Bytes in base64."""


_Judge = Callable[[object], str]

_JUDGES: Final[dict[type, tuple[_Judge, object]]] = {
    _Quantity: (decoding.of_quantity, _Quantity()),
    _Moment: (decoding.of_time, _Moment()),
    _Bytes: (decoding.of_bytes, _Bytes()),
}
"""Type -> what is wrong with a value, and what stands for all that are right"""

_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1."
_LEAVES: Final[dict[str, object]] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": _Quantity,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": str | Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)],
    f"{_META}Time": _Moment,
    f"{_META}MicroTime": _Moment,
    "byte": _Bytes,
}


class Whole:
    """The look at the objects of one kind; like its definitions it is one for the life of the process."""

    def __init__(self, schema: Schema) -> None:
        types = Types(lenient=False, leaves=_LEAVES)
        members = dict(definitions.properties(schema) or {})
        status = members.pop("status", None)
        lenient = Types(lenient=True, leaves=_LEAVES)
        further = [] if status is None else [("status", lenient.of(status) | None)]  # type: ignore[operator]
        made = types.struct("Whole", {**schema, "properties": members}, further)
        self._decode = msgspec.json.Decoder(made, dec_hook=_judged).decode
        self.is_exact = types.is_exact and lenient.is_exact
        """Whether all is looked into; a definition inside itself is not"""

    def passes(self, raw: bytes) -> bool:
        """Whether an object has the right shape; False may be a false alarm."""
        try:
            self._decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return False
        return True


def _judged(type: type, value: object) -> object:
    judge, right = _JUDGES[type]
    if judge(value):
        raise ValueError
    return right


@cache
def whole(api_version: str, kind: str) -> Whole:
    """The look at whole objects of one of Kubernetes' own kinds."""
    schema = definitions.of_kind(api_version, kind)
    assert schema is not None
    return Whole(schema)
