"""Cluster roles that are made of others: their rules are those of all roles that they select.

A controller of a real cluster fills them in a moment later; here it is done in the step that changes a role.
"""

from typing import Final

import msgspec

from baseload.embedded.api.authorize.grants import GROUP, rules_in
from baseload.embedded.api.authorize.rules import Rule
from baseload.embedded.store import record as records
from baseload.embedded.store.record import Record
from baseload.embedded.store.store import Store
from baseload.kube.types.meta import LabelSelector
from baseload.values import selector
from baseload.values.errors import BadInput
from baseload.values.selector import Selector

KIND: Final = (GROUP, "ClusterRole")


class _Aggregation(msgspec.Struct, rename="camel"):
    cluster_role_selectors: tuple[LabelSelector, ...] | None = None


class _Role(msgspec.Struct, rename="camel"):
    aggregation_rule: _Aggregation | None = None


def aggregate(store: Store) -> None:
    """Fills all cluster roles that are made of others, and those that are made of these."""
    resource = store.resource_of(*KIND)
    assert resource is not None
    table = store.table(resource)
    made = [name for name, role in sorted(table.records.items()) if _selectors(role) is not None]
    for _ in made:  # as many rounds as roles can stand on each other; roles in a circle would never come to an end
        if not [name for name in made if _is_filled(store, table.records[name])]:
            return


def _is_filled(store: Store, role: Record) -> bool:
    """Whether the rules of a role had to change."""
    rules = _gathered(role, store)
    if set(rules) == set(rules_in(role)):
        return False
    body = _with_rules(role, rules)
    store.change(role.resource, "", role.name, lambda old: old.with_body(body))
    return True


def _selectors(role: Record) -> list[Selector] | None:
    """What a role gathers; None where it is made of its own rules."""
    if b'"aggregationRule"' not in role.body.raw:
        return None
    told = msgspec.json.decode(b"{%b}" % role.body.raw, type=_Role).aggregation_rule
    if told is None:
        return None
    return [_compiled(wanted) for wanted in told.cluster_role_selectors or ()]


def _compiled(wanted: LabelSelector) -> Selector:
    try:
        return selector.compile(wanted)
    except BadInput:
        return selector.NOTHING


def _gathered(role: Record, store: Store) -> tuple[Rule, ...]:
    """The rules that a role is made of, each once."""
    selectors = _selectors(role) or []
    others = [other for name, other in sorted(store.table(role.resource).records.items()) if name != role.name]
    chosen = [other for wanted in selectors for other in others if wanted.matches(other.shared.labels)]
    return tuple(dict.fromkeys(rule for other in chosen for rule in rules_in(other)))


def _with_rules(role: Record, rules: tuple[Rule, ...]) -> records.Body:
    sections = role.body.tree()
    sections["rules"] = msgspec.to_builtins(rules)
    return records.body(msgspec.json.encode(sections)[1:-1])
