"""Where pods want to be: node and pod affinity, tolerations, spreading."""

from typing import Final

from baseload.kube.validation import metadata, names
from baseload.kube.validation.fault import Faults, Tree, among, duplicate, forbidden, invalid, required, unsupported
from baseload.kube.validation.names import each
from baseload.kube.validation.remembered import once

EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES: Final = ("Honor", "Ignore")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_EITHER: Final = "must be specified when `operator` is 'In' or 'NotIn'"
_NEITHER: Final = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"


@once
def affinity(given: Tree, path: str) -> Faults:
    """The three kinds of affinity."""
    if (nodes := given.get("nodeAffinity")) is not None:
        if (demanded := nodes.get(_REQUIRED)) is not None:
            yield from node_selector(demanded, f"{path}.nodeAffinity.{_REQUIRED}")
        for index, term in enumerate(nodes.get(_PREFERRED, ())):
            at = f"{path}.nodeAffinity.{_PREFERRED}[{index}]"
            yield from _weight(term, at)
            yield from _term(term.get("preference", {}), f"{at}.preference", checks_values=False)
    for name in ("podAffinity", "podAntiAffinity"):
        terms = given.get(name)
        if terms is None:
            continue
        for index, term in enumerate(terms.get(_REQUIRED, ())):
            yield from _pod_term(term, f"{path}.{name}.{_REQUIRED}[{index}]")
        for index, term in enumerate(terms.get(_PREFERRED, ())):
            at = f"{path}.{name}.{_PREFERRED}[{index}]"
            yield from _weight(term, at)
            yield from _pod_term(term.get("podAffinityTerm", {}), f"{at}.podAffinityTerm")


def _weight(term: Tree, path: str) -> Faults:
    if not 1 <= term.get("weight", 0) <= 100:
        yield invalid(f"{path}.weight", term.get("weight", 0), "must be in the range 1-100")


def node_selector(given: Tree, path: str) -> Faults:
    """Terms of which a node must meet one."""
    terms = given.get("nodeSelectorTerms")
    if not terms:
        yield required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
        return
    for index, term in enumerate(terms):
        yield from _term(term, f"{path}.nodeSelectorTerms[{index}]", checks_values=True)


def _term(term: Tree, path: str, *, checks_values: bool) -> Faults:
    for index, expression in enumerate(term.get("matchExpressions", ())):
        yield from _expression(expression, f"{path}.matchExpressions[{index}]", checks_values=checks_values)
    for index, expression in enumerate(term.get("matchFields", ())):
        yield from _field(expression, f"{path}.matchFields[{index}]")


def _expression(given: Tree, at: str, *, checks_values: bool) -> Faults:
    operator, values, key = given.get("operator", ""), given.get("values", ()), given.get("key", "")
    match operator:
        case "In" | "NotIn":
            if not values:
                yield required(f"{at}.values", _EITHER)
        case "Exists" | "DoesNotExist":
            if values:
                yield forbidden(f"{at}.values", _NEITHER)
        case "Gt" | "Lt":
            if len(values) != 1:
                yield required(f"{at}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
        case _:
            yield invalid(f"{at}.operator", operator, "not a valid selector operator")
    yield from each(names.qualified(key), f"{at}.key", key)
    if checks_values:
        for index, value in enumerate(values):
            yield from each(names.label_value(value), f"{at}.values[{index}]", value)


def _field(given: Tree, at: str) -> Faults:
    operator, values, key = given.get("operator", ""), given.get("values", ()), given.get("key", "")
    if operator in ("In", "NotIn"):
        if len(values) != 1:
            why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            yield required(f"{at}.values", why)
    else:
        yield invalid(f"{at}.operator", operator, "not a valid selector operator")
    if key != "metadata.name":
        yield invalid(f"{at}.key", key, "not a valid field selector key")
    else:
        for index, value in enumerate(values):
            yield from each(names.subdomain(value), f"{at}.values[{index}]", value)


def _pod_term(term: Tree, path: str) -> Faults:
    yield from metadata.selector(term.get("labelSelector"), f"{path}.labelSelector")
    yield from metadata.selector(term.get("namespaceSelector"), f"{path}.namespaceSelector")
    for name in term.get("namespaces", ()):
        yield from each(names.dns_label(name), f"{path}.namespace", name)
    yield from _label_keys(term, path)
    key = term.get("topologyKey", "")
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from each(names.qualified(key), f"{path}.topologyKey", key)


def _label_keys(term: Tree, path: str) -> Faults:
    """The keys whose values are taken from the pod itself."""
    matched, mismatched = term.get("matchLabelKeys", ()), term.get("mismatchLabelKeys", ())
    for field, keys in (("matchLabelKeys", matched), ("mismatchLabelKeys", mismatched)):
        if not keys:
            continue
        if term.get("labelSelector") is None:
            yield forbidden(f"{path}.{field}", "must not be specified when labelSelector is not set")
        for index, key in enumerate(keys):
            yield from each(names.qualified(key), f"{path}.{field}[{index}]", key)
    for index, key in enumerate(matched):
        if key in mismatched:
            yield invalid(f"{path}.matchLabelKeys[{index}]", key, "exists in both matchLabelKeys and mismatchLabelKeys")
    for index, key in enumerate(matched):
        if key in _selected_keys(term):
            yield invalid(f"{path}[{index}]", key, "exists in both matchLabelKeys and labelSelector")


def _selected_keys(term: Tree) -> set[str]:
    """The keys that a client itself selects by; a server adds one expression for each of matchLabelKeys."""
    selector = term.get("labelSelector") or {}
    expressions = [one.get("key", "") for one in selector.get("matchExpressions", ())]
    for key in term.get("matchLabelKeys", ()):
        if key in expressions:
            expressions.remove(key)
    return {*selector.get("matchLabels", {}), *expressions}


@once
def tolerations(given: list[Tree], path: str) -> Faults:
    """Which taints a pod puts up with."""
    for index, toleration in enumerate(given):
        yield from _toleration(toleration, f"{path}[{index}]")


def _toleration(given: Tree, path: str) -> Faults:
    key, operator = given.get("key", ""), given.get("operator", "")
    value, effect = given.get("value", ""), given.get("effect", "")
    if key:
        yield from each(names.qualified(key), f"{path}.key", key)
    elif operator != "Exists":
        why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{path}.operator", operator, why)
    if given.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield invalid(f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    if operator in ("", "Equal"):
        yield from each(names.label_value(value), f"{path}.operator", value)
    elif operator == "Exists":
        if value:
            yield invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    else:
        # comparisons are behind a gate that is shut, but are named once somebody asks for one
        known = ("Equal", "Exists", "Lt", "Gt") if operator in ("Lt", "Gt") else ("Equal", "Exists")
        yield unsupported(f"{path}.operator", operator, known)
    if effect:
        yield from among(f"{path}.effect", effect, EFFECTS)


@once
def spread(given: list[Tree], path: str) -> Faults:
    """How pods are spread over domains."""
    for index, constraint in enumerate(given):
        at = f"{path}[{index}]"
        yield from _constraint(constraint, at)
        pair = _pair(constraint)
        if any(_pair(later) == pair for later in given[index + 1 :]):
            yield duplicate(f"{at}.{{topologyKey, whenUnsatisfiable}}", f"{{{pair[0]}, {pair[1]}}}")
        yield from _domains(constraint, at)
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if (policy := constraint.get(name)) is not None:
                yield from among(f"{at}.{name}", policy, _POLICIES)
        yield from _label_keys(constraint, at)
        yield from metadata.selector(constraint.get("labelSelector"), f"{at}.labelSelector")


def _pair(constraint: Tree) -> tuple[str, str]:
    return constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")


def _constraint(given: Tree, at: str) -> Faults:
    if given.get("maxSkew", 0) <= 0:
        yield invalid(f"{at}.maxSkew", given.get("maxSkew", 0), "must be greater than zero")
    if not given.get("topologyKey"):
        yield required(f"{at}.topologyKey", "can not be empty")
    yield from among(f"{at}.whenUnsatisfiable", given.get("whenUnsatisfiable", ""), _ACTIONS)


def _domains(given: Tree, at: str) -> Faults:
    least = given.get("minDomains")
    if least is None:
        return
    if least <= 0:
        yield invalid(f"{at}.minDomains", least, "must be greater than zero")
    action = given.get("whenUnsatisfiable", "")
    if action != "DoNotSchedule":
        why = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        yield invalid(f"{at}.minDomains", least, why)
