"""Custom resources: what a CustomResourceDefinition says, as a kind that is served.

One version of a definition is served, the one that it is stored in. The status says so as the API server's own
controllers do, at once.
"""

from typing import cast

import msgspec

from baseload.embedded.api.kinds import Column, Scale, ServedKind
from baseload.embedded.store import errors
from baseload.embedded.store.errors import Cause
from baseload.embedded.store.record import Json, Record, section
from baseload.embedded.store.resource import Resource
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


def kind(record: Record) -> ServedKind:
    """The kind that a definition adds; refuses a definition that adds none."""
    spec = _spec(record)
    causes = tuple(_faults(record, spec))
    if causes:
        raise errors.invalid(record.resource, record.name, causes)
    names = spec.names
    version = next(version for version in spec.versions if version.storage)
    assert version.schema is not None
    subresources = version.subresources or _Subresources()
    resource = Resource(
        spec.group,
        version.name,
        names.kind,
        names.plural,
        namespaced=spec.scope == "Namespaced",
        has_status=subresources.status is not None,
        needs_version=True,
        fields=tuple(field["jsonPath"].removeprefix(".") for field in version.selectable_fields if "jsonPath" in field),
    )
    schema = cast(Schema, version.schema.schema or {})
    fields = definitions.properties(schema) or {}
    text: Schema = {"type": "string"}
    whole = {**fields, "apiVersion": text, "kind": text, "metadata": {"$ref": definitions.OBJECT_META}}
    return ServedKind(
        resource,
        names.singular or names.kind.lower(),
        names.short_names,
        names.categories,
        types.of_schema(resource.api_version, names.kind, schema),
        {"type": "object", **schema, "properties": whole},
        scale=_scale(subresources.scale),
        columns=tuple(map(_column, version.additional_printer_columns)) or (_AGE,),
        list_kind=names.list_kind or f"{names.kind}List",
    )


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
