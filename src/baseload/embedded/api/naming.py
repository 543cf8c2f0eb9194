"""The status of definitions: which names are theirs, whether they are served, what is left to do when they end.

Within a group no two definitions may have a name, a short name or a kind alike; who has it, keeps it. A definition is
served when all its names are its own for the first time, and by those that it got from then on.
"""

from collections.abc import Iterable
from typing import Final, cast

from baseload.embedded.api.versions import Tree
from baseload.embedded.store.record import Json

FINALIZER: Final = "customresourcecleanup.apiextensions.k8s.io"
_RESOURCES: Final = ("plural", "singular", "shortNames")
_KINDS: Final = ("kind", "listKind")
_ENDINGS: Final = {
    "InstanceDeletionPending": (
        "True",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    ),
    "InstanceDeletionInProgress": ("True", "CustomResource deletion is in progress"),
    "InstanceDeletionCompleted": ("False", "removed all instances"),
}


def status(asked: Tree, held: Tree, others: Iterable[Tree], now: str) -> Tree:
    """The status of a definition that asks for names, beside those of its group; the very one where nothing changes."""
    names, condition = _accepted(asked, _map(held.get("acceptedNames")), list(others))
    conditions = _set(_maps(held.get("conditions")), condition, now)
    if not is_established(held):
        is_new = condition["status"] == "True"
        told = (
            ("InitialNamesAccepted", "the initial names have been accepted")
            if is_new
            else (
                "NotAccepted",
                "not all names are accepted",
            )
        )
        established = _condition("Established", "True" if is_new else "False", *told)
        conditions = _set(conditions, established, now)
    new: Tree = {**held, "conditions": cast(Json, conditions), "acceptedNames": names}
    return held if new == held else new


def ending(held: Tree, reason: str, now: str) -> Tree:
    """The status of a definition that ends."""
    told, message = _ENDINGS[reason]
    conditions = _set(_maps(held.get("conditions")), _condition("Terminating", told, reason, message), now)
    return {**held, "conditions": cast(Json, conditions)}


def is_established(held: Tree) -> bool:
    """Whether a definition with that status is served."""
    conditions = _maps(held.get("conditions"))
    return any(it.get("type") == "Established" and it.get("status") == "True" for it in conditions)


def _accepted(asked: Tree, got: Tree, others: list[Tree]) -> tuple[Tree, Tree]:
    """The names that a definition has, and the condition that says whether these are what it asked for."""
    taken = [_map(other.get("acceptedNames")) for other in others]
    resources = {name for names in taken for key in _RESOURCES for name in _listed(names.get(key))}
    kinds = {name for names in taken for key in _KINDS for name in _listed(names.get(key))}
    names, conflict = dict(got), _condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")
    for key in (*_RESOURCES, *_KINDS):
        used = kinds if key in _KINDS else resources
        lost = [name for name in _listed(asked.get(key)) if name in used and name not in _listed(got.get(key))]
        if lost:
            reason = f"{key[0].upper()}{key[1:]}Conflict"
            conflict = _condition("NamesAccepted", "False", reason, _said(lost))
        elif asked.get(key):
            names[key] = asked[key]
        else:
            names.pop(key, None)
    for key in ("plural", "kind"):
        names.setdefault(key, "")
    names.pop("categories", None)
    if asked.get("categories"):
        names["categories"] = asked["categories"]
    return names, conflict


def _said(lost: list[str]) -> str:
    told = [f'"{name}" is already in use' for name in lost]
    return told[0] if len(told) == 1 else f"[{', '.join(told)}]"


def _listed(value: Json) -> list[str]:
    if isinstance(value, list):
        return [str(item) for item in value]
    return [str(value)] if value else []


def _condition(type: str, status: str, reason: str, message: str) -> Tree:
    return {"lastTransitionTime": None, "message": message, "reason": reason, "status": status, "type": type}


def _set(conditions: list[Tree], new: Tree, now: str) -> list[Tree]:
    """The conditions with one put in its place; it keeps the time at which its status came about."""
    found = next((it for it in conditions if it.get("type") == new["type"]), None)
    if found is None:
        return [*conditions, {**new, "lastTransitionTime": now}]
    since = found.get("lastTransitionTime") if found.get("status") == new["status"] else now
    return [{**new, "lastTransitionTime": since} if it is found else it for it in conditions]


def _map(value: Json) -> Tree:
    return value if isinstance(value, dict) else {}


def _maps(value: Json) -> list[Tree]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
