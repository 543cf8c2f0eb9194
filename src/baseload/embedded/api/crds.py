"""Custom resources: what a CustomResourceDefinition says, as a kind that is served.

Objects are stored in one version of it and served in each that it says. The status says so as the API server's own
controllers do, at once.
"""

from typing import cast

import msgspec

from baseload.embedded.api import fields, versions
from baseload.embedded.api.kinds import CUSTOM_VERBS, Column, Scale, ServedKind
from baseload.embedded.api.versions import Conversion, Convert, Tree, Webhook
from baseload.embedded.store.errors import Cause
from baseload.embedded.store.record import Record, section
from baseload.embedded.store.resource import Resource
from baseload.kube.cel.rules import Rules
from baseload.kube.merge import types
from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema
from baseload.kube.structural import definition

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


class _Service(msgspec.Struct):
    namespace: str = ""
    name: str = ""
    path: str = ""
    port: int = 443


class _Client(msgspec.Struct):
    url: str = ""
    service: _Service | None = None


class _Webhook(msgspec.Struct):
    client: _Client = msgspec.field(name="clientConfig", default_factory=_Client)


class _Conversion(msgspec.Struct):
    webhook: _Webhook | None = None


class _Spec(msgspec.Struct):
    group: str = ""
    conversion: _Conversion = msgspec.field(default_factory=_Conversion)
    scope: str = ""
    names: _Names = msgspec.field(default_factory=_Names)
    versions: tuple[_Version, ...] = ()


class _Status(msgspec.Struct, rename="camel"):
    accepted_names: _Names | None = None


_AGE = Column("Age", "date", ".metadata.creationTimestamp")


def resource(record: Record) -> Resource:
    """How the store keeps the objects of a definition: in its storage version."""
    spec = _spec(record)
    stored = next(version for version in spec.versions if version.storage)
    selectable = (path for version in spec.versions for path in _selectable(version))
    return _resource(spec, stored, tuple(dict.fromkeys(selectable)))


def kinds(record: Record, stored: Resource) -> list[ServedKind]:
    """The kind that a definition adds, in each version that is served; `stored` is how the store keeps it."""
    spec = _spec(record)
    schemas = {version.name: _schema(version) for version in spec.versions}
    has_changed = record.generation > 1
    return [
        _kind(spec, version, stored, schemas, has_changed=has_changed) for version in spec.versions if version.served
    ]


def _kind(
    spec: _Spec, version: _Version, stored: Resource, schemas: dict[str, Schema], *, has_changed: bool
) -> ServedKind:
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
        conversion=_between(view, stored, schemas, _webhook(spec)) if has_changed or not version.storage else None,
        rules=Rules(whole),
    )


def _wrong_rules(spec: _Spec) -> list[Cause]:
    """Why the rules of a definition do not compile."""
    from baseload.kube.cel import definition  # the whole language, which reading a definition anew never needs

    schemas = [_schema(version) for version in spec.versions if version.schema is not None]
    are_alike = all(schema == schemas[0] for schema in schemas)
    faults = []
    for place, schema in enumerate(schemas[:1] if are_alike else schemas):
        path = "spec.validation" if are_alike else f"spec.versions[{place}].schema"
        faults += definition.faults(schema, f"{path}.openAPIV3Schema")
    return [Cause(fault.reason, fault.message, fault.path) for fault in faults]


def _webhook(spec: _Spec) -> Webhook | None:
    """Who converts between the versions; None where nobody has to."""
    if spec.conversion.webhook is None:
        return None
    client = spec.conversion.webhook.client
    if client.service is None:
        return Webhook(client.url)
    service = client.service
    path = f"/{service.path.lstrip('/')}"
    address = f"https://{service.name}.{service.namespace}.svc:{service.port}{path}"
    return Webhook(address, (service.namespace, service.name))


def _between(view: Resource, stored: Resource, schemas: dict[str, Schema], webhook: Webhook | None) -> Conversion:
    """A version of the objects that are stored: its apiVersion, and the fields that both versions have.

    What is stored may be older than the schema of today, of whose defaults it is shown with those that it lacks.
    """

    def into(resource: Resource) -> Convert:
        schema, version = schemas[resource.version], versions.renamed(resource)

        def convert(tree: Tree) -> Tree:
            tree = version(tree)
            fields.prune(schema, tree)
            return tree

        return convert

    show, kept = into(view), schemas[stored.version]

    def shown(tree: Tree) -> Tree:
        fields.default(kept, tree)
        return show(tree)

    if view.version == stored.version:
        return Conversion(stored, shown, into(stored))
    return Conversion(view, shown, into(stored), webhook=webhook)


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


def causes(tree: Tree, old: Tree | None) -> list[Cause]:
    """What is wrong with a definition."""
    found = [Cause(fault.reason, fault.message, fault.path) for fault in definition.faults(tree, old)]
    return found or _wrong_rules(msgspec.convert(tree.get("spec"), _Spec))


def _spec(record: Record) -> _Spec:
    """The spec, with the names that were accepted."""
    spec = record.body.spec(_Spec)
    status = section(record.status)
    names = msgspec.json.decode(status, type=_Status).accepted_names if status else None
    return spec if names is None else msgspec.structs.replace(spec, names=names)


def say_the_same(one: Record, other: Record) -> bool:
    """Whether two states of a definition differ in nothing that is served."""
    return _spec(one) == _spec(other)


def _scale(told: _Scale | None) -> Scale | None:
    if told is None:
        return None
    paths = (told.spec_replicas_path, told.status_replicas_path, told.label_selector_path)
    return Scale(*(path.removeprefix(".") for path in paths))


def _column(told: _Column) -> Column:
    return Column(told.name, told.type, told.json_path, told.description, told.format, told.priority)
