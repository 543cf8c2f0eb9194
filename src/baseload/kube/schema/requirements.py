"""Rules on requirements of label keys: those of pods, and Karpenter's stricter ones of pools, claims and overlays."""

from collections.abc import Collection, Iterator, Sequence

from baseload.kube.schema import names
from baseload.kube.schema.finding import Finding, Weight, invalid, required, unsupported
from baseload.kube.types.meta import NodeSelectorRequirement
from baseload.values import label
from baseload.values.requirement import OPERATORS, Requirement

_COMPARISONS = ("Gt", "Lt", "Gte", "Lte")
_RESERVED = ("karpenter.sh", "karpenter.k8s.aws", "karpenter.kwok.sh")
_WELL_KNOWN = label.CORE_WELL_KNOWN | label.AWS_WELL_KNOWN
_OF_NODE_CLASSES = ("karpenter.k8s.aws/ec2nodeclass", "karpenter.kwok.sh/kwoknodeclass")  # which every claim carries
_MOST_REQUIREMENTS = 100
_MOST_MIN_VALUES = 50


def of_pod(given: Sequence[NodeSelectorRequirement], path: str) -> Iterator[Finding]:
    """The expressions of a node selector term, as the API server checks them.

    What they say of a key is left to the decision: a pod with a demand that no node can meet waits, and says why.
    """
    for index, requirement in enumerate(given):
        at = f"{path}[{index}]"
        if not names.is_key(requirement.key):
            yield invalid(f"{at}.key", requirement.key, "is no label key")
        yield from _operator(requirement, at)
        if requirement.operator in ("In", "NotIn") and not requirement.values:
            yield required(f"{at}.values", "must be specified when `operator` is 'In' or 'NotIn'")
        if requirement.operator in ("Exists", "DoesNotExist") and requirement.values:
            yield Finding(
                f"{at}.values", "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            )
        if requirement.operator in _COMPARISONS and len(requirement.values) != 1:
            yield required(f"{at}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")


def _operator(requirement: NodeSelectorRequirement, at: str) -> Iterator[Finding]:
    if requirement.operator not in OPERATORS:
        yield names.fatal(unsupported(f"{at}.operator", requirement.operator, OPERATORS))


def of_karpenter(
    given: Sequence[NodeSelectorRequirement], path: str, well_known: Collection[str], *, pool: bool = False
) -> Iterator[Finding]:
    """The requirements of a pool, a claim or an overlay; `well_known` are keys that the catalogue adds."""
    if len(given) > _MOST_REQUIREMENTS:
        yield Finding(path, f"Too many: {len(given)}: must have at most {_MOST_REQUIREMENTS} items")
    for index, requirement in enumerate(given):
        at = f"{path}[{index}]"
        yield from _key(requirement.key, f"{at}.key", well_known, pool=pool)
        yield from _operator(requirement, at)
        yield from _values(requirement, at)
        yield from _min_values(requirement, at)
    yield from _contradictions(given, path)


def _key(key: str, path: str, well_known: Collection[str], *, pool: bool) -> Iterator[Finding]:
    if not names.is_key(key):
        yield invalid(path, key, "is no label key")
    yield from restricted(key, path, well_known, pool=pool)


def restricted(key: str, path: str, well_known: Collection[str], *, pool: bool) -> Iterator[Finding]:
    """Keys that users may not set: the host name, and what is not well-known in a domain of Karpenter's."""
    domain = key.partition("/")[0]
    reserved = next((reserved for reserved in _RESERVED if domain.endswith(reserved)), None)
    if key == label.HOSTNAME or (pool and key == label.NODEPOOL):
        yield invalid(path, key, f'label "{key}" is restricted')
    elif reserved is None or label.normalise(key) in _WELL_KNOWN or key in well_known:
        return
    elif pool or key not in _OF_NODE_CLASSES:
        yield invalid(path, key, f'label domain "{reserved}" is restricted')


def _values(requirement: NodeSelectorRequirement, at: str) -> Iterator[Finding]:
    path, operator, values = f"{at}.values", requirement.operator, requirement.values
    if operator == "In" and not values:
        yield invalid(path, [], "requirements with operator 'In' must have a value defined")
    if operator in _COMPARISONS and not (len(values) == 1 and (label.integer(values[0]) or 0) >= 0 and _is_int(values)):
        message = "requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value"
        shown = values[0] if len(values) == 1 else list(values)
        yield invalid(path, shown, message)
    for index, value in enumerate(values):
        if operator not in _COMPARISONS and not names.is_value(value):
            yield invalid(f"{path}[{index}]", value, "is no label value")
    known = label.KNOWN_VALUES.get(label.normalise(requirement.key))
    if operator == "In" and known and values and not set(known) & set(values):
        yield unsupported(path, values[0], known)


def _is_int(values: Sequence[str]) -> bool:
    return label.integer(values[0]) is not None


def _min_values(requirement: NodeSelectorRequirement, at: str) -> Iterator[Finding]:
    least = requirement.min_values
    if least is None:
        return
    path = f"{at}.minValues"
    known = label.KNOWN_VALUES.get(label.normalise(requirement.key), ())
    if not 1 <= least <= _MOST_MIN_VALUES:
        yield invalid(path, least, f"must be between 1 and {_MOST_MIN_VALUES}")
    elif requirement.operator == "In" and len(requirement.values) < least:
        message = "requirements with 'minValues' must have at least that many values specified in the 'values' field"
        yield invalid(path, least, message)
    elif requirement.operator == "In" and 0 < len(set(known) & set(requirement.values)) < least:
        message = f"not enough valid values found in requirement, expected at least {least} of: {', '.join(known)}"
        yield invalid(path, least, message)


def _contradictions(given: Sequence[NodeSelectorRequirement], path: str) -> Iterator[Finding]:
    """Two requirements on one key that no value meets. Bounds that cross are a way to say that; it is only noted."""
    together: dict[str, Requirement] = {}
    for index, written in enumerate(given):
        if written.operator not in OPERATORS:
            continue
        requirement = Requirement.of(written.key, written.operator, written.values)
        before = together.get(requirement.key)
        if before is not None:
            both = before.intersect(requirement)
            if both.operator == "DoesNotExist" and not (before.tolerates_absence and requirement.tolerates_absence):
                message = f"contradicts an earlier requirement on {requirement.key}: no node can satisfy both"
                crossed = before.complement and requirement.complement
                yield Finding(f"{path}[{index}]", message, weight=Weight.NOTE if crossed else Weight.WRONG)
            requirement = both
        together[requirement.key] = requirement
