"""Checks one object after another: shape first, then the rules on its reading.

How much a finding matters follows `--validate`: a hand-written object must be right, one that came out of an API
server (it carries a resourceVersion) has passed there, so that a difference is only said.
What no decision can be made with is refused in any case.
"""

from collections import Counter
from collections.abc import Collection
from typing import Literal

import msgspec

from baseload.kube import fieldpath, kinds
from baseload.kube.reading import Parts
from baseload.kube.schema import definitions, shape
from baseload.kube.schema.finding import Finding, Weight
from baseload.kube.schema.gate import Gate
from baseload.kube.schema.rules import Rules
from baseload.kube.types.meta import ObjectMeta, Wire

Validate = Literal["auto", "strict", "warn", "ignore"]
_FEW = 20
"""Objects of a kind that are compared one by one before a gate for that kind pays off."""
_ENOUGH = 50
"""Odd objects of a kind out of an API server that are compared; a newer server's new field would be in all of them."""


class Checker:
    """The checks of one load."""

    def __init__(self, validate: Validate, well_known: Collection[str] = ()) -> None:
        self._validate = validate
        self._rules = Rules(well_known)
        self._seen: Counter[kinds.Kind] = Counter()
        self._gates: dict[kinds.Kind, Gate] = {}
        self._odd: Counter[kinds.Kind] = Counter()

    def mode(self, metadata: ObjectMeta) -> Validate:
        """How strictly this object is held to its schema."""
        if self._validate != "auto":
            return self._validate
        return "warn" if metadata.resource_version else "strict"

    def compared(self, kind: kinds.Kind, raw: msgspec.Raw, parts: Parts, mode: Validate) -> shape.Shape | None:
        """What is wrong with the shape of an object; None where nothing is."""
        if mode == "ignore" or (mode == "warn" and kind.reading is None):
            return None
        schema = definitions.of_kind(kind.api_version, kind.name)
        if schema is None or self._passes(kind, schema, parts):
            return None
        if mode == "warn" and self._odd[kind] >= _ENOUGH:
            return None
        compared = shape.compare(schema, msgspec.json.decode(raw))
        if not compared.findings:
            return None
        self._odd[kind] += 1
        return compared

    def _passes(self, kind: kinds.Kind, schema: definitions.Schema, parts: Parts) -> bool:
        self._seen[kind] += 1
        if not parts.complete or self._seen[kind] <= _FEW or definitions.is_custom(kind.api_version, kind.name):
            return False
        gate = self._gates.get(kind)
        if gate is None:
            gate = self._gates[kind] = Gate(schema)
        return gate.passes(parts.metadata, parts.spec, parts.status)

    def found(self, value: Wire | None, compared: shape.Shape | None) -> list[Finding]:
        """All findings on an object, those of the rules only where the shape is right."""
        ruled = self._rules.findings(value) if value is not None else []
        if compared is None:
            return ruled
        shaped = compared.findings
        fatal = {finding.path for finding in ruled if finding.weight is Weight.FATAL}
        paths = {finding.path for finding in shaped} - fatal
        ruled = [finding for finding in ruled if not any(_is_at_or_below(finding.path, path) for path in paths)]
        return [*(finding for finding in shaped if finding.path in paths), *ruled]


def _is_at_or_below(path: str, above: str) -> bool:
    return path.startswith(above) and (len(path) == len(above) or path[len(above)] in ".[")


def refuses(finding: Finding, mode: Validate) -> bool:
    """Whether a finding refuses the input; one that does not is a warning, or nothing under `ignore`."""
    return finding.weight is Weight.FATAL or (mode == "strict" and finding.weight is Weight.WRONG)


def pruned(raw: msgspec.Raw, compared: shape.Shape) -> msgspec.Raw | None:
    """An object without its mistyped fields, so that the rest can still be checked; None where that cannot be."""
    if any(not steps or isinstance(steps[-1], int) for steps in compared.mistyped):
        return None
    tree: object = msgspec.json.decode(raw)
    for steps in compared.mistyped:
        tree = fieldpath.changed(tree, fieldpath.text(steps), None)
    return msgspec.Raw(msgspec.json.encode(tree))
