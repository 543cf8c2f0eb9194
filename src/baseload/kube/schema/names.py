"""Rules on names, labels, selectors and amounts: what every kind has."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from baseload.kube import fieldpath
from baseload.kube.schema.finding import Finding, Weight, invalid, required, unsupported
from baseload.kube.types.meta import LabelSelector, ObjectMeta, Quantity, Taint
from baseload.values import instant, label, quantity

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_SUBDOMAIN_RULE = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'"
_KEY_RULE = "a label key is a name of at most 63 letters, digits, '-', '_' and '.', maybe after a DNS subdomain and '/'"
_VALUE_RULE = (
    "a label value is empty or at most 63 letters, digits, '-', '_' and '.', with a letter or digit at its ends"
)

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_RULE = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'"
_RESOURCE_RULE = (
    "a resource's name is at most 63 letters, digits, '-', '_' and '.', maybe after a DNS subdomain and '/'"
)

is_key = lru_cache(maxsize=65536)(label.is_qualified_name)
is_value = lru_cache(maxsize=65536)(label.is_label_value)


@lru_cache(maxsize=4096)
def _is_label(text: str) -> bool:
    return len(text) <= 63 and _LABEL.fullmatch(text) is not None


def label_name(text: str, path: str) -> Iterator[Finding]:
    """A name that is one DNS label: a namespace's or a container's."""
    if not _is_label(text):
        yield invalid(path, text, _LABEL_RULE)


def metadata(meta: ObjectMeta) -> Iterator[Finding]:
    """The metadata of an object that is read; paths begin at `metadata`."""
    if is_plain(meta):
        return
    if not label.is_subdomain(meta.name):
        yield invalid("metadata.name", meta.name, _SUBDOMAIN_RULE)
    if meta.namespace:
        yield from label_name(meta.namespace, "metadata.namespace")
    yield from labels(meta.labels, "metadata.labels")
    for key in meta.annotations:
        if not is_key(key.lower()):
            yield invalid("metadata.annotations", key, _KEY_RULE)
    yield from moment("metadata.creationTimestamp", meta.creation_timestamp)
    yield from moment("metadata.deletionTimestamp", meta.deletion_timestamp)


def is_plain(meta: ObjectMeta) -> bool:
    """Whether nothing is wrong with metadata, told quickly: of twenty thousand pods it is true of nearly all."""
    return (
        label.is_subdomain(meta.name)
        and (not meta.namespace or _is_label(meta.namespace))
        and all(map(is_key, meta.labels))
        and all(map(is_value, meta.labels.values()))
        and all(map(is_key, meta.annotations))
        and not _wrong_moment(meta.creation_timestamp)
        and not meta.deletion_timestamp
    )


def labels(given: Mapping[str, str], path: str) -> Iterator[Finding]:
    """Labels, or any map of them."""
    for key, value in given.items():
        if not is_key(key):
            yield invalid(path, key, _KEY_RULE)
        if not is_value(value):
            yield invalid(below(path, key), value, _VALUE_RULE)


def below(path: str, key: str) -> str:
    """The path of one entry of a map."""
    return path + fieldpath.text(("x", key))[1:]


@lru_cache(maxsize=4096)
def _wrong_moment(text: str) -> str:
    """What is wrong with an instant; "" where nothing is."""
    try:
        if text:
            instant.parse(text)
    except ValueError as error:
        return str(error)
    return ""


def is_moment(text: str) -> bool:
    """Whether it can be read as an instant, or is left out."""
    return not (text and _wrong_moment(text))


def moment(path: str, text: str) -> Iterator[Finding]:
    """An instant, where one is given: decisions compare it."""
    if wrong := _wrong_moment(text):
        yield Finding(path, f"Invalid value: {wrong}", weight=Weight.FATAL)


def amounts(given: Mapping[str, Quantity], path: str) -> Iterator[Finding]:
    """Quantities by resource name: each can be read and none is negative."""
    for name, amount in given.items():
        if not is_key(name):
            yield invalid(path, name, _RESOURCE_RULE)
        if not _is_amount(amount):
            yield from amount_of(amount, below(path, name))


def _is_amount(amount: Quantity) -> bool:
    try:
        return quantity.parse(amount) >= 0
    except quantity.QuantityError:
        return False


def amount_of(amount: Quantity, path: str) -> Iterator[Finding]:
    """One quantity."""
    try:
        if quantity.parse(amount) < 0:
            yield invalid(path, amount, "must be greater than or equal to 0")
    except quantity.QuantityError as error:
        yield Finding(path, f"Invalid value: {error}", weight=Weight.FATAL)


def selector(given: LabelSelector | None, path: str) -> Iterator[Finding]:
    """A label selector: its operators are the four of Kubernetes."""
    if given is None:
        return
    yield from labels(given.match_labels, f"{path}.matchLabels")
    for index, expression in enumerate(given.match_expressions):
        at = f"{path}.matchExpressions[{index}]"
        if not is_key(expression.key):
            yield invalid(f"{at}.key", expression.key, _KEY_RULE)
        if expression.operator in ("In", "NotIn"):
            if not expression.values:
                yield required(f"{at}.values", "must be specified when `operator` is 'In' or 'NotIn'")
        elif expression.operator in ("Exists", "DoesNotExist"):
            if expression.values:
                yield Finding(
                    f"{at}.values", "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                )
        else:
            found = unsupported(f"{at}.operator", expression.operator, ("In", "NotIn", "Exists", "DoesNotExist"))
            yield fatal(found)


def fatal(finding: Finding) -> Finding:
    """The same finding, refused whatever --validate says."""
    return Finding(finding.path, finding.message, finding.allowed, Weight.FATAL)


def taints(given: tuple[Taint, ...], path: str) -> Iterator[Finding]:
    """A list of taints."""
    for index, taint in enumerate(given):
        at = f"{path}[{index}]"
        if not is_key(taint.key):
            yield invalid(f"{at}.key", taint.key, _KEY_RULE)
        if not is_value(taint.value):
            yield invalid(f"{at}.value", taint.value, _VALUE_RULE)
        if taint.effect not in EFFECTS:
            yield unsupported(f"{at}.effect", taint.effect, EFFECTS)
