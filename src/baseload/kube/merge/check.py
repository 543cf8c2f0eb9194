"""Whether an applied configuration can be merged at all: known fields, right types, items told apart.

The wording is that of the API server, which lists all faults of a configuration in one message.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from baseload.kube.merge import fieldset, go_text
from baseload.kube.merge.elements import ElementError, element
from baseload.kube.merge.types import ListType, MapType, Scalar, Type

_SOUND: dict[Scalar, tuple[type, ...]] = {
    "numeric": (int, float),
    "string": (str,),
    "boolean": (bool,),
    "untyped": (str, int, float),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong, at one path."""

    path: str
    message: str

    def below(self, path: str) -> "Fault":
        """The same fault seen from further out."""
        return Fault(path + self.path, self.message)

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def told(faults: Sequence[Fault]) -> str:
    """All faults as one message."""
    return str(faults[0]) if len(faults) == 1 else "\n".join(["errors:", *(f"  {fault}" for fault in faults)])


def faults(kind: Type, value: object) -> Sequence[Fault]:
    """What is wrong with a value."""
    if value is None:
        return ()
    form = kind.form(value)
    if isinstance(form, MapType):
        return _of_map(form, value)
    return _of_list(form, value) if isinstance(form, ListType) else _of_scalar(form, value)


def _of_scalar(form: Scalar, value: object) -> Sequence[Fault]:
    if isinstance(value, _SOUND[form]) and (form != "numeric" or not isinstance(value, bool)):
        return ()
    if form == "numeric":
        return (Fault("", f"expected numeric (int or float), got {go_text.type_name(value)}"),)
    if form == "string":
        return (Fault("", f"expected string, got &value.valueUnstructured{{Value:{go_text.syntax(value)}}}"),)
    wanted = "boolean" if form == "boolean" else "any scalar"
    return (Fault("", f"expected {wanted}, got &{{{go_text.plain(value)}}}"),)


def _of_list(form: ListType, value: object) -> Sequence[Fault]:
    if not isinstance(value, list):
        return (Fault("", f"expected list, got &{{{go_text.plain(value)}}}"),)
    found: list[Fault] = []
    seen: set[str] = set()
    for index, item in enumerate(value):
        try:
            step = f"i:{index}" if form.atomic else element(form, item)
        except ElementError as error:
            found.append(Fault("", f"element {index}: {error}"))
            break
        if step in seen:
            found.append(Fault("", f"duplicate entries for key {fieldset.element_text(step)}"))
        seen.add(step)
        below = faults(form.element, item)
        if below:
            found += [fault.below(fieldset.element_text(step)) for fault in below]
    return found


def _of_map(form: MapType, value: object) -> Sequence[Fault]:
    if not isinstance(value, dict):
        return (Fault("", f"expected map, got &{{{go_text.plain(value)}}}"),)
    found: list[Fault] = []
    for name, held in value.items():
        field = form.field(name)
        if field is None:
            found.append(Fault(f".{name}", "field not declared in schema"))
            break
        below = faults(field, held)
        if below:
            found += [fault.below(f".{name}") for fault in below]
    return found
