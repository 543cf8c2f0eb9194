"""What every object carries: metadata, conditions, label selectors, node requirements, taints."""

import msgspec

Quantity = str | int | float
"""A quantity as written; `values.quantity.parse` gives the number."""

Resources = dict[str, Quantity]
"""resource name -> quantity as written"""

IntOrString = int | str


class Wire(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """The root of all readings: frozen, camel-cased on the wire, unknown fields passed over."""


class OwnerReference(Wire, frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False
    block_owner_deletion: bool = False


class ObjectMeta(Wire, frozen=True):
    name: str = ""
    namespace: str = ""
    generate_name: str = ""
    uid: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    creation_timestamp: str = ""
    deletion_timestamp: str = ""
    deletion_grace_period_seconds: int | None = None
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()
    generation: int | None = None
    resource_version: str = ""


class Condition(Wire, frozen=True):
    """A condition of any kind of object; `observed_generation` and the two times are absent on some."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str = ""
    observed_generation: int | None = None


class LabelSelectorRequirement(Wire, frozen=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Wire, frozen=True):
    match_labels: dict[str, str] = {}
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class NodeSelectorRequirement(Wire, frozen=True):
    """A requirement on one label key; `min_values` is Karpenter's and absent on pods."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()
    min_values: int | None = None


class Taint(Wire, frozen=True):
    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str = ""
