"""Custom resources: what a CustomResourceDefinition says, as a kind that is served.

Objects are stored in one version of it and served in each that it says. The status says so as the API server's own
controllers do, at once.
"""

from typing import cast

import msgspec

from baseload.embedded.api import fields, versions
from baseload.embedded.api.kinds import CUSTOM_VERBS, Column, Scale, ServedKind
from baseload.embedded.api.versions import Conversion, Convert, Tree
from baseload.embedded.store import errors
from baseload.embedded.store.errors import Cause
from baseload.embedded.store.record import Json, Record, section
from baseload.embedded.store.resource import Resource
from baseload.kube.cel.rules import Rules
from baseload.kube.merge import types
from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema

KIND = ("apiextensions.k8s.io", "CustomResourceDefinition")


class _Names(msgspec.Struct, rename="camel"):
    plural: str = ""
    kind: str = ""
    singular: str = ""
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


class _Column(msgspec.Struct, rename="camel"):
    name: str = ""
    type: str = ""
    json_path: str = ""
    description: str = ""
    format: str = ""
    priority: int = 0


class _Scale(msgspec.Struct, rename="camel"):
    spec_replicas_path: str = ""
    status_replicas_path: str = ""
    label_selector_path: str = ""


class _Subresources(msgspec.Struct):
    status: dict[str, object] | None = None
    scale: _Scale | None = None


class _Validation(msgspec.Struct):
    schema: dict[str, object] | None = msgspec.field(default=None, name="openAPIV3Schema")


class _Version(msgspec.Struct, rename="camel"):
    name: str = ""
    served: bool = False
    storage: bool = False
    schema: _Validation | None = None
    subresources: _Subresources | None = None
    additional_printer_columns: tuple[_Column, ...] = ()
    selectable_fields: tuple[dict[str, str], ...] = ()


class _Spec(msgspec.Struct):
    group: str = ""
    scope: str = ""
    names: _Names = msgspec.field(default_factory=_Names)
    versions: tuple[_Version, ...] = ()


_AGE = Column("Age", "date", ".metadata.creationTimestamp")


def resource(record: Record) -> Resource:
    """How the store keeps the objects of a definition: in its storage version; refuses one that adds no kind."""
    spec = _spec(record)
    causes = tuple(_faults(record, spec))
    if causes:
        raise errors.invalid(record.resource, record.name, causes)
    stored = next(version for version in spec.versions if version.storage)
    selectable = (path for version in spec.versions for path in _selectable(version))
    return _resource(spec, stored, tuple(dict.fromkeys(selectable)))


def kinds(record: Record, stored: Resource) -> list[ServedKind]:
    """The kind that a definition adds, in each version that is served; `stored` is how the store keeps it."""
    spec = _spec(record)
    schemas = {version.name: _schema(version) for version in spec.versions}
    return [_kind(spec, version, stored, schemas) for version in spec.versions if version.served]


def _kind(spec: _Spec, version: _Version, stored: Resource, schemas: dict[str, Schema]) -> ServedKind:
    names, schema = spec.names, schemas[version.name]
    subresources = version.subresources or _Subresources()
    view = _resource(spec, version, _selectable(version))
    named = definitions.properties(schema) or {}
    text: Schema = {"type": "string"}
    named = {**named, "apiVersion": text, "kind": text, "metadata": {"$ref": definitions.OBJECT_META}}
    whole: Schema = {"type": "object", **schema, "properties": named}
    return ServedKind(
        stored,
        names.singular or names.kind.lower(),
        names.short_names,
        names.categories,
        types.of_schema(view.api_version, names.kind, schema),
        whole,
        scale=_scale(subresources.scale),
        columns=tuple(map(_column, version.additional_printer_columns)) or (_AGE,),
        verbs=CUSTOM_VERBS,
        list_kind=names.list_kind or f"{names.kind}List",
        selectable=_selectable(version),
        conversion=None if version.storage else _between(view, stored, schemas),
        rules=Rules(whole),
    )


def check_rules(record: Record) -> None:
    """Refuses a definition whose rules do not compile."""
    from baseload.kube.cel import definition  # the whole language, which reading a definition anew never needs

    schemas = [_schema(version) for version in _spec(record).versions if version.schema is not None]
    are_alike = all(schema == schemas[0] for schema in schemas)
    faults = []
    for place, schema in enumerate(schemas[:1] if are_alike else schemas):
        path = "spec.validation" if are_alike else f"spec.versions[{place}].schema"
        faults += definition.faults(schema, f"{path}.openAPIV3Schema")
    if faults:
        causes = tuple(Cause(fault.reason, fault.message, fault.path) for fault in faults)
        raise errors.invalid(record.resource, record.name, causes)


def _between(view: Resource, stored: Resource, schemas: dict[str, Schema]) -> Conversion:
    """Another version of the same objects: another apiVersion, and the fields that both versions have."""

    def into(resource: Resource) -> Convert:
        schema, version = schemas[resource.version], versions.renamed(resource)

        def convert(tree: Tree) -> Tree:
            tree = version(tree)
            fields.prune(schema, tree)
            return tree

        return convert

    return Conversion(view, into(view), into(stored))


def _resource(spec: _Spec, version: _Version, selectable: tuple[str, ...]) -> Resource:
    return Resource(
        spec.group,
        version.name,
        spec.names.kind,
        spec.names.plural,
        namespaced=spec.scope == "Namespaced",
        has_status=version.subresources is not None and version.subresources.status is not None,
        needs_version=True,
        fields=selectable,
    )


def _schema(version: _Version) -> Schema:
    return cast(Schema, (version.schema.schema if version.schema else None) or {})


def _selectable(version: _Version) -> tuple[str, ...]:
    return tuple(field["jsonPath"].removeprefix(".") for field in version.selectable_fields if "jsonPath" in field)


def is_accepted(record: Record) -> bool:
    """Whether a definition's status says already that it is served."""
    status = section(record.status)
    return bool(status) and "acceptedNames" in msgspec.json.decode(status)


def accepted(record: Record, now: str) -> Record:
    """The definition with the status of one that is served."""
    spec = _spec(record)
    names = msgspec.to_builtins(spec.names)
    names["singular"] = names["singular"] or spec.names.kind.lower()
    names["listKind"] = names["listKind"] or f"{spec.names.kind}List"
    conditions: list[Json] = [
        _condition("NamesAccepted", "NoConflicts", "no conflicts found", now),
        _condition("Established", "InitialNamesAccepted", "the initial names have been accepted", now),
    ]
    status: dict[str, Json] = {
        "conditions": conditions,
        "acceptedNames": {key: value for key, value in names.items() if value},
        "storedVersions": [version.name for version in spec.versions if version.storage],
    }
    return record.with_status(msgspec.json.encode(status))


def _spec(record: Record) -> _Spec:
    try:
        return msgspec.convert(record.body.tree().get("spec", {}), _Spec)
    except msgspec.ValidationError as error:
        cause = Cause("FieldValueInvalid", f"Invalid value: {error}", "spec")
        raise errors.invalid(record.resource, record.name, (cause,)) from error


def _faults(record: Record, spec: _Spec) -> list[Cause]:
    required = {
        "spec.group": spec.group,
        "spec.scope": spec.scope,
        "spec.names.plural": spec.names.plural,
        "spec.names.kind": spec.names.kind,
        "spec.versions": spec.versions,
    }
    found = [Cause("FieldValueRequired", "Required value", path) for path, value in required.items() if not value]
    wanted = f"{spec.names.plural}.{spec.group}"
    if not found and record.name != wanted:
        message = f'Invalid value: "{record.name}": must be spec.names.plural+"."+spec.group'
        found.append(Cause("FieldValueInvalid", message, "metadata.name"))
    stored = [version for version in spec.versions if version.storage]
    if spec.versions and len(stored) != 1:
        message = "Invalid value: must have exactly one version marked as storage version"
        found.append(Cause("FieldValueInvalid", message, "spec.versions"))
    elif stored and (stored[0].schema is None or stored[0].schema.schema is None):
        path = f"spec.versions[{spec.versions.index(stored[0])}].schema.openAPIV3Schema"
        found.append(Cause("FieldValueRequired", "Required value: schemas are required", path))
    return found


def _scale(told: _Scale | None) -> Scale | None:
    if told is None:
        return None
    paths = (told.spec_replicas_path, told.status_replicas_path, told.label_selector_path)
    return Scale(*(path.removeprefix(".") for path in paths))


def _column(told: _Column) -> Column:
    return Column(told.name, told.type, told.json_path, told.description, told.format, told.priority)


def _condition(type: str, reason: str, message: str, now: str) -> Json:
    return {"type": type, "status": "True", "lastTransitionTime": now, "reason": reason, "message": message}
