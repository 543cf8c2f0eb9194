"""Whether a CustomResourceDefinition may stand: names, versions and their parts, and what a change may not change.

An API server reads what all versions say alike as said once, of the whole definition, and names it so: the schema of a
definition with one version is `spec.validation`, its columns are `spec.additionalPrinterColumns`, and so on.
"""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from baseload.kube.structural import extensions, fault, given, schemas, words
from baseload.kube.structural.fault import Fault

Tree = dict[str, Any]

_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_SELECTABLE: Final = ("string", "boolean", "integer")
_MOST_SELECTABLE: Final = 8
_APPROVED: Final = "api-approved.kubernetes.io"
_PROTECTED: Final = ("k8s.io", "kubernetes.io")
# where it stands in a version -> where it stands when all versions say the same
_TOGETHER: Final = {
    "schema": "validation",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}
_AT_ROOT: Final = (
    "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern "
    "MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields "
    "XValidations"
)
_NOT_AT_ROOT: Final = (
    "enum",
    "additionalProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "maxProperties",
    "minProperties",
    "default",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
)


def faults(tree: Tree, old: Tree | None = None) -> list[Fault]:
    """All that is wrong with a definition, given what it was before."""
    spec, names = _map(tree.get("spec")), _map(_map(tree.get("spec")).get("names"))
    found: list[Fault] = []
    name = str(_map(tree.get("metadata")).get("name") or "")
    if not name:
        found.append(fault.required("metadata.name", "name or generateName is required"))
    elif old is None and name != f"{names.get('plural') or ''}.{spec.get('group') or ''}":
        found.append(fault.invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group'))
    found += [*_group(spec), *_scope(spec), *_versions(spec), *_names(names), *_together(spec), *_conversion(spec)]
    if old is not None:
        found += _unchanged(spec, old)
    found += stored(tree)
    return [*found, *_approval(tree, old)]


def stored(tree: Tree) -> Iterator[Fault]:
    """Whether status.storedVersions names the storage version, and none that is gone."""
    told = _map(tree.get("status")).get("storedVersions") or []
    versions = _maps(_map(tree.get("spec")).get("versions"))
    path = "status.storedVersions"
    if not told:
        yield fault.invalid(path, None, "must have at least one stored version")
        return
    for version in versions:
        if version.get("storage") and version.get("name") not in told:
            yield fault.invalid(path, told, f"must have the storage version {version.get('name')}")
    names = [version.get("name") for version in versions]
    for index, name in enumerate(told):
        if name not in names:
            why = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
                f"{name} from status.storedVersions"
            )
            yield fault.invalid(f"{path}[{index}]", name, why)


def _group(spec: Tree) -> Iterator[Fault]:
    group = spec.get("group") or ""
    if not group:
        yield fault.required("spec.group")
    elif wrong := words.wrong_subdomain(group):
        yield fault.invalid("spec.group", group, wrong)
    elif "." not in group:
        yield fault.invalid("spec.group", group, "should be a domain with at least one dot")


def _scope(spec: Tree) -> Iterator[Fault]:
    scope = spec.get("scope") or ""
    if not scope:
        yield fault.required("spec.scope")
    elif scope not in ("Cluster", "Namespaced"):
        yield fault.unsupported("spec.scope", scope, ["Cluster", "Namespaced"])


def _names(names: Tree) -> Iterator[Fault]:
    for key in ("plural", "singular", "kind", "listKind"):
        told = names.get(key) or ""
        if not told:
            yield fault.required(f"spec.names.{key}")
            continue
        is_kind = key in ("kind", "listKind")
        if wrong := words.wrong_label(told.lower() if is_kind else told):
            why = f"may have mixed case, but should otherwise match: {wrong}" if is_kind else wrong
            yield fault.invalid(f"spec.names.{key}", told, why)
    for key in ("shortNames", "categories"):
        for index, told in enumerate(names.get(key) or []):
            if wrong := words.wrong_label(told):
                yield fault.invalid(f"spec.names.{key}[{index}]", told, wrong)
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        yield fault.invalid("spec.names.listKind", names["kind"], "kind and listKind may not be the same")


def _versions(spec: Tree) -> Iterator[Fault]:
    versions = _maps(spec.get("versions"))
    together = _alike(versions)
    for index, version in enumerate(versions):
        if _map(version.get("schema")).get("openAPIV3Schema") is None:
            yield fault.required(f"spec.versions[{index}].schema.openAPIV3Schema")
    for index, version in enumerate(versions):
        path = f"spec.versions[{index}]"
        if wrong := words.wrong_label(str(version.get("name") or "")):
            yield fault.invalid(f"{path}.name", version.get("name") or "", wrong)
        yield from _warning(version, path)
        alone = {key: value for key, value in version.items() if key not in together}
        yield from _parts(alone, version, path, {key: key for key in _TOGETHER})
    named = [version.get("name") for version in versions]
    if len(set(named)) < len(named):
        yield fault.invalid("spec.versions", versions, "must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        why = "must have exactly one version marked as storage version"
        yield fault.invalid("spec.versions", versions or None, why)
    if versions and (wrong := words.wrong_label(str(named[0] or ""))):
        yield fault.invalid("spec.version", named[0] or "", wrong)


def _together(spec: Tree) -> Iterator[Fault]:
    """The parts that all versions have alike."""
    versions = _maps(spec.get("versions"))
    alike = _alike(versions)
    if alike:
        yield from _parts({key: versions[0].get(key) for key in alike}, versions[0], "spec", _TOGETHER)


def _alike(versions: list[Tree]) -> list[str]:
    return [key for key in _TOGETHER if versions and all(it.get(key) == versions[0].get(key) for it in versions)]


def _parts(told: Tree, version: Tree, path: str, names: dict[str, str]) -> Iterator[Fault]:
    has_status = "status" in _map(version.get("subresources"))
    schema = _map(told.get("schema")).get("openAPIV3Schema")
    if isinstance(schema, dict):
        yield from _of_schema(schema, f"{path}.{names['schema']}.openAPIV3Schema", has_status=has_status)
    yield from _subresources(_map(told.get("subresources")), f"{path}.{names['subresources']}")
    for index, column in enumerate(_maps(told.get("additionalPrinterColumns"))):
        yield from _column(column, f"{path}.{names['additionalPrinterColumns']}[{index}]")
    fields = _maps(told.get("selectableFields"))
    yield from _selectable(fields, _schema(version), f"{path}.{names['selectableFields']}")


def _of_schema(schema: Tree, path: str, *, has_status: bool) -> Iterator[Fault]:
    if has_status and (schema.get("type") or "object") != "object":
        why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        yield fault.invalid(f"{path}.type", schema["type"], why)
    if has_status and any(schema.get(name) for name in _NOT_AT_ROOT):
        why = f"only [{_AT_ROOT}] fields are allowed at the root of the schema if the status subresource is enabled"
        yield fault.invalid(path, schema, why)
    if schema.get("nullable"):
        yield fault.forbidden(f"{path}.nullable", "nullable cannot be true at the root")
    if schemas.can_be_asked(schema):
        structural = schemas.faults(schema, path)
        yield from structural or given.faults(schema, path)
    yield from extensions.faults(schema, path)


def _warning(version: Tree, path: str) -> Iterator[Fault]:
    told = version.get("deprecationWarning")
    if told is None:
        return
    if not version.get("deprecated"):
        yield fault.invalid(f"{path}.deprecationWarning", told, "can only be set for deprecated versions")
    elif not told:
        yield fault.invalid(f"{path}.deprecationWarning", told, "must not be an empty string")
    elif len(told) > 256:
        yield fault.invalid(f"{path}.deprecationWarning", told, "must be <= 256 characters long")


def _subresources(told: Tree, path: str) -> Iterator[Fault]:
    scale = told.get("scale")
    if not isinstance(scale, dict):
        return
    for key, below, where in (
        ("specReplicasPath", (".spec.",), ".spec"),
        ("statusReplicasPath", (".status.",), ".status"),
        ("labelSelectorPath", (".spec.", ".status."), "either .spec or .status"),
    ):
        given, here = scale.get(key) or "", f"{path}.scale.{key}"
        if not given:
            if key != "labelSelectorPath":
                yield fault.required(here)
        elif not given.startswith("."):
            yield fault.invalid(here, given, "must be a simple json path starting with .")
        elif not given.startswith(below):
            yield fault.invalid(here, given, f"should be a json path under {where}")


def _column(column: Tree, path: str) -> Iterator[Fault]:
    types, formats = f"must be one of {','.join(_COLUMN_TYPES)}", f"must be one of {','.join(_COLUMN_FORMATS)}"
    if not column.get("name"):
        yield fault.required(f"{path}.name")
    if not column.get("type"):
        yield fault.required(f"{path}.type", types)
    elif column["type"] not in _COLUMN_TYPES:
        yield fault.invalid(f"{path}.type", column["type"], types)
    if column.get("format") and column["format"] not in _COLUMN_FORMATS:
        yield fault.invalid(f"{path}.format", column["format"], formats)
    if not column.get("jsonPath"):
        yield fault.required(f"{path}.JSONPath")
    elif not column["jsonPath"].startswith("."):
        yield fault.invalid(f"{path}.JSONPath", column["jsonPath"], "must be a simple json path starting with .")


def _selectable(fields: list[Tree], schema: Tree, path: str) -> Iterator[Fault]:
    seen: list[str] = []
    for index, field in enumerate(fields):
        here, told = f"{path}[{index}].jsonPath", field.get("jsonPath") or ""
        if not told:
            yield fault.required(here)
            continue
        found = _field_at(schema, told)
        if isinstance(found, str):
            yield fault.invalid(here, told, f"is an invalid path: {found}")
            continue
        if told.startswith(".metadata"):
            yield fault.invalid(here, told, "must not point to fields in metadata")
        if found.get("type") not in _SELECTABLE:
            why = (
                "must point to a field of type string, boolean or integer. Enum string fields and strings with formats "
                "are allowed."
            )
            yield fault.invalid(here, told, why)
        if told in seen:
            yield fault.duplicate(here, told)
        seen.append(told)
    if len(set(seen)) > _MOST_SELECTABLE:
        yield fault.too_many(path, len(set(seen)), _MOST_SELECTABLE)


def _field_at(schema: Tree, path: str) -> Tree | str:
    """The schema of the field at a path, or what is wrong with the path."""
    if not path.startswith("."):
        return f"expected [ or . but got: {path.partition('.')[0]}"
    if "[" in path:
        return "array notation is not allowed"
    for step in path[1:].split("."):
        if not step:
            return "unexpected end of JSON path"
        others = schema.get("additionalProperties")
        inner = _map(schema.get("properties")).get(step, others if not schema.get("properties") else None)
        if not isinstance(inner, dict):
            return "does not refer to a valid field"
        schema = inner
    return schema


def _conversion(spec: Tree) -> Iterator[Fault]:
    conversion, path = _map(spec.get("conversion")), "spec.conversion"
    strategy, webhook = conversion.get("strategy") or "", _map(conversion.get("webhook"))
    reviews, client = webhook.get("conversionReviewVersions") or [], webhook.get("clientConfig")
    if not strategy:
        yield fault.required(f"{path}.strategy")
    elif strategy not in ("None", "Webhook"):
        yield fault.unsupported(f"{path}.strategy", strategy, ["None", "Webhook"])
    if strategy != "Webhook":
        why = "should not be set when strategy is not set to Webhook"
        if client is not None:
            yield fault.forbidden(f"{path}.webhookClientConfig", why)
        if reviews:
            yield fault.forbidden(f"{path}.conversionReviewVersions", why)
        return
    yield from _client(client, f"{path}.webhookClientConfig")
    if not reviews:
        yield fault.required(f"{path}.conversionReviewVersions")
    elif not set(reviews) & {"v1", "v1beta1"}:
        why = "must include at least one of v1, v1beta1"
        yield fault.invalid(f"{path}.conversionReviewVersions", reviews, why)


def _client(client: object, path: str) -> Iterator[Fault]:
    if not isinstance(client, dict):
        yield fault.required(path, "required when strategy is set to Webhook")
    elif (client.get("url") is None) == (client.get("service") is None):
        yield fault.required(path, "exactly one of url or service is required")
    elif client.get("url") is not None and urlsplit(client["url"]).scheme != "https":
        why = "'https' is the only allowed URL scheme; desired format: https://host[/path]"
        yield fault.invalid(f"{path}.url", urlsplit(client["url"]).scheme, why)
    else:
        service = _map(client.get("service"))
        for key in ("name", "namespace") if service else ():
            if not service.get(key):
                yield fault.required(f"{path}.service.{key}")


def _unchanged(spec: Tree, old: Tree) -> Iterator[Fault]:
    before = _map(old.get("spec"))
    conditions = _maps(_map(old.get("status")).get("conditions"))
    is_established = any(it.get("type") == "Established" and it.get("status") == "True" for it in conditions)
    fixed = [("group",), ("names", "plural")]
    fixed = [("scope",), ("names", "kind"), *fixed] if is_established else fixed
    for steps in fixed:
        now, was = spec, before
        for step in steps[:-1]:
            now, was = _map(now.get(step)), _map(was.get(step))
        if now.get(steps[-1]) != was.get(steps[-1]):
            path = ".".join(("spec", *steps))
            yield fault.invalid(path, now.get(steps[-1]) or "", "field is immutable")


def _approval(tree: Tree, old: Tree | None) -> Iterator[Fault]:
    group = str(_map(tree.get("spec")).get("group") or "")
    if not any(group == name or group.endswith(f".{name}") for name in _PROTECTED):
        return
    path = f"metadata.annotations[{_APPROVED}]"
    said = _annotation(tree)
    if old is not None and _is_approval(_annotation(old)) == _is_approval(said):
        return
    if not said:
        why = (
            "protected groups must have approval annotation "
            '"api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111'
        )
        yield fault.required(path, why)
    elif not _is_approval(said):
        why = (
            'protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason '
            'starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111'
        )
        yield fault.invalid(path, said, why)


def _annotation(tree: Tree) -> str:
    return str(_map(_map(tree.get("metadata")).get("annotations")).get(_APPROVED) or "")


def _is_approval(said: str) -> bool:
    parts = urlsplit(said)
    return said.startswith("unapproved") or bool(parts.scheme and parts.netloc)


def _schema(version: Tree) -> Tree:
    return _map(_map(version.get("schema")).get("openAPIV3Schema"))


def _map(value: object) -> Tree:
    return value if isinstance(value, dict) else {}


def _maps(value: object) -> list[Tree]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
