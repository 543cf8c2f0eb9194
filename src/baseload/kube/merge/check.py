"""Whether an applied configuration can be merged at all: known fields, right types, items told apart.

The wording is that of the API server, which lists all faults of a configuration in one message.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from baseload.kube.merge import fieldset, go_text
from baseload.kube.merge.elements import ElementError, element
from baseload.kube.merge.types import ListType, MapType, Scalar, Type


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


def told(faults: list[Fault]) -> str:
    """All faults as one message."""
    return str(faults[0]) if len(faults) == 1 else "\n".join(["errors:", *(f"  {fault}" for fault in faults)])


def faults(kind: Type, value: object) -> Iterator[Fault]:
    """What is wrong with a value."""
    if value is None:
        return
    form = kind.form(value)
    if isinstance(form, MapType):
        yield from _of_map(form, value)
    elif isinstance(form, ListType):
        yield from _of_list(form, value)
    else:
        yield from _of_scalar(form, value)


def _of_scalar(form: Scalar, value: object) -> Iterator[Fault]:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if form == "numeric" and not number:
        yield Fault("", f"expected numeric (int or float), got {go_text.type_name(value)}")
    elif form == "string" and not isinstance(value, str):
        yield Fault("", f"expected string, got &value.valueUnstructured{{Value:{go_text.syntax(value)}}}")
    elif form == "boolean" and not isinstance(value, bool):
        yield Fault("", f"expected boolean, got &{{{go_text.plain(value)}}}")
    elif form == "untyped" and isinstance(value, dict | list):
        yield Fault("", f"expected any scalar, got &{{{go_text.plain(value)}}}")


def _of_list(form: ListType, value: object) -> Iterator[Fault]:
    if not isinstance(value, list):
        yield Fault("", f"expected list, got &{{{go_text.plain(value)}}}")
        return
    seen: set[str] = set()
    for index, item in enumerate(value):
        if form.atomic:
            here = f"[{index}]"
        else:
            try:
                told_apart = element(form, item)
            except ElementError as error:
                yield Fault("", f"element {index}: {error}")
                return
            here = told_apart
            if told_apart in seen:
                yield Fault("", f"duplicate entries for key {fieldset.element_text(told_apart)}")
            seen.add(told_apart)
        for fault in faults(form.element, item):
            yield fault.below(here if form.atomic else fieldset.element_text(here))


def _of_map(form: MapType, value: object) -> Iterator[Fault]:
    if not isinstance(value, dict):
        yield Fault("", f"expected map, got &{{{go_text.plain(value)}}}")
        return
    for name, held in value.items():
        field = form.field(name)
        if field is None:
            yield Fault(f".{name}", "field not declared in schema")
            return
        for fault in faults(field, held):
            yield fault.below(f".{name}")
