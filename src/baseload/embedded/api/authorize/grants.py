"""The rules that bindings give to a user, by an index that follows the store.

The index reads the log of the four kinds from where it stood: nothing is scanned for a request, and what somebody may
do in a namespace is put together once, until a role or a binding changes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec

from baseload.embedded.api.authorize.rules import Rule
from baseload.embedded.api.identity import Identity
from baseload.embedded.store.errors import Gone
from baseload.embedded.store.record import Record
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.store import Store
from baseload.embedded.store.watch import Watch
from baseload.kube.merge.go_text import quoted

GROUP: Final = "rbac.authorization.k8s.io"
_KINDS: Final = ("ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding")
_KEPT: Final = 4096  # answers that are kept at once
_Key = tuple[str, str]  # namespace and name


class Subject(msgspec.Struct, frozen=True):
    """Who is bound."""

    kind: str = ""
    name: str = ""
    namespace: str = ""


class RoleRef(msgspec.Struct, frozen=True, rename="camel"):
    """What he is bound to."""

    kind: str = ""
    name: str = ""
    api_group: str = GROUP


class _Role(msgspec.Struct):
    rules: tuple[Rule, ...] | None = None


class BindingSpec(msgspec.Struct, frozen=True, rename="camel"):
    """What a binding says."""

    role_ref: RoleRef = RoleRef()
    subjects: tuple[Subject, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """A binding; in no namespace it holds in all of them."""

    namespace: str
    name: str
    role: RoleRef
    subjects: tuple[Subject, ...]

    def told(self, identity: Identity) -> str:
        """The binding, with the first subject that the user is, as the reason of an answer."""
        keys = set(_keys_of(identity))
        subject = next(subject for subject in self.subjects if _key(subject, self.namespace) in keys)
        kind, name = ("RoleBinding", f"{self.name}/{self.namespace}") if self.namespace else (_CLUSTER_WIDE, self.name)
        who = subject.name
        if subject.kind == "ServiceAccount":
            who = f"{subject.name}/{subject.namespace or self.namespace}"
        role = f"{self.role.kind} {quoted(self.role.name)}"
        return f"{kind} {quoted(name)} of {role} to {subject.kind} {quoted(who)}"


_CLUSTER_WIDE: Final = "ClusterRoleBinding"


class Grant(NamedTuple):
    """A rule that somebody has, and by what."""

    rule: Rule
    binding: Binding


@dataclass(frozen=True, slots=True)
class Granted:
    """All that somebody has in a namespace; `missing` names the roles that bindings have and the cluster has not."""

    grants: tuple[Grant, ...]
    missing: tuple[str, ...] = ()

    @property
    def trouble(self) -> str:
        """The missing roles as one text; "" where there are none."""
        return self.missing[0] if len(self.missing) == 1 else f"[{', '.join(self.missing)}]" if self.missing else ""


class NoRole(LookupError):
    """A binding's role is not there."""


@dataclass(slots=True)
class Grants:
    """What roles and bindings in a store give to whom."""

    store: Store
    _resources: dict[str, Resource] = field(default_factory=dict)
    _cursors: dict[str, Watch] = field(default_factory=dict)
    _roles: dict[str, dict[_Key, Record]] = field(default_factory=dict)
    _bindings: dict[str, dict[_Key, Binding]] = field(default_factory=dict)
    # whom -> namespace -> bindings by name; the namespace of cluster role bindings is ""
    _of: dict[tuple[str, str], dict[str, dict[str, Binding]]] = field(default_factory=dict)
    _rules: dict[tuple[str, _Key], tuple[Rule, ...]] = field(default_factory=dict)
    _known: dict[tuple[str, tuple[str, ...], str], Granted] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in _KINDS:
            resource = self.store.resource_of(GROUP, kind)
            assert resource is not None
            self._resources[kind] = resource
            self._start(kind)

    def of(self, identity: Identity, namespace: str) -> Granted:
        """What a user has in a namespace; in none, what he has everywhere."""
        self._follow()
        key = (identity.name, identity.groups, namespace)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            known = self._known[key] = self._put_together(identity, namespace)
        return known

    def rules_of(self, role: RoleRef, namespace: str) -> tuple[Rule, ...]:
        """The rules of the role that a binding in a namespace names."""
        self._follow()
        return self._role_rules(role, namespace)

    def _put_together(self, identity: Identity, namespace: str) -> Granted:
        grants: list[Grant] = []
        missing: dict[str, None] = {}
        for where in ("", namespace) if namespace else ("",):
            for binding in self._bound(identity, where):
                try:
                    rules = self._role_rules(binding.role, where)
                except NoRole as error:
                    missing[str(error)] = None
                else:
                    grants += [Grant(rule, binding) for rule in rules]
        return Granted(tuple(grants), tuple(missing))

    def _bound(self, identity: Identity, namespace: str) -> Iterable[Binding]:
        found: dict[str, Binding] = {}
        for key in _keys_of(identity):
            found.update(self._of.get(key, {}).get(namespace, {}))
        return (found[name] for name in sorted(found))

    def _role_rules(self, role: RoleRef, namespace: str) -> tuple[Rule, ...]:
        key = ("" if role.kind == "ClusterRole" else namespace, role.name)
        known = self._rules.get((role.kind, key))
        if known is None:
            record = self._roles.get(role.kind, {}).get(key)
            if record is None:
                raise NoRole(f"{role.kind.lower()}.{GROUP} {quoted(role.name)} not found")
            known = self._rules[role.kind, key] = rules_in(record)
        return known

    def _start(self, kind: str) -> None:
        if kind in self._cursors:
            for binding in list(self._bindings.get(kind, {}).values()):
                self._unbind(binding)
        self._roles[kind], self._bindings[kind] = {}, {}
        self._cursors[kind] = self.store.watch(self._resources[kind])

    def _follow(self) -> None:
        for kind in _KINDS:
            while self._cursors[kind].is_behind:
                self._known.clear()
                try:
                    events = self._cursors[kind].read()
                except Gone:
                    self._start(kind)
                    continue
                for event in events:
                    self._note(kind, event.record, is_gone=event.type == "DELETED")

    def _note(self, kind: str, record: Record, *, is_gone: bool) -> None:
        key = (record.namespace, record.name)
        if kind.endswith("Role"):
            self._rules.pop((kind, key), None)
            if is_gone:
                self._roles[kind].pop(key, None)
            else:
                self._roles[kind][key] = record
            return
        bindings = self._bindings[kind]
        if key in bindings:
            self._unbind(bindings.pop(key))
        if not is_gone:
            said = binding_in(record)
            binding = bindings[key] = Binding(*key, said.role_ref, said.subjects or ())
            for subject in binding.subjects:
                where = self._of.setdefault(_key(subject, binding.namespace), {})
                where.setdefault(binding.namespace, {})[binding.name] = binding

    def _unbind(self, binding: Binding) -> None:
        for subject in binding.subjects:
            where = self._of.get(_key(subject, binding.namespace), {})
            where.get(binding.namespace, {}).pop(binding.name, None)


def rules_in(record: Record) -> tuple[Rule, ...]:
    """A role's rules."""
    return msgspec.json.decode(b"{%b}" % record.body.raw, type=_Role).rules or ()


def binding_in(record: Record) -> BindingSpec:
    """What a stored binding says."""
    return msgspec.json.decode(b"{%b}" % record.body.raw, type=BindingSpec)


def _keys_of(identity: Identity) -> Iterator[tuple[str, str]]:
    yield "User", identity.name
    for group in identity.groups:
        yield "Group", group


def _key(subject: Subject, namespace: str) -> tuple[str, str]:
    """Whom a subject of a binding in a namespace stands for; a service account is the user of its name."""
    if subject.kind != "ServiceAccount":
        return subject.kind, subject.name
    where = subject.namespace or namespace
    return ("User", f"system:serviceaccount:{where}:{subject.name}") if where else ("", "")
