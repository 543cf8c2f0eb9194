"""The words by which kinds and fields are explained."""

from collections.abc import Iterator

import pytest

from baseload.kube.schema import definitions, descriptions
from baseload.kube.schema.definitions import Schema

ROOTS = ("io.k8s.api.", "io.k8s.apimachinery.pkg.apis.")
EXPLAINED = (
    *("Pod", "PodSpec", "Container", "Service", "Node", "ConfigMap", "Secret", "Namespace"),
    *("ResourceQuota", "LimitRange"),
)


def paths(schema: Schema, path: str = "") -> Iterator[str]:
    yield path
    fields, items = schema.get("properties"), schema.get("items")
    if isinstance(fields, dict):
        for name, held in fields.items():
            yield from paths(held, f"{path}.{name}" if path else name)
    elif isinstance(items, dict):
        yield from paths(items, path)


def explained(name: str) -> Schema | None:
    """What an entry is about."""
    if "/" in name:
        custom = definitions.custom()
        return next(
            (it["schema"] for it in custom if name == f"{str(it['apiVersion']).partition('/')[0]}/{it['kind']}"), None
        )  # type: ignore[return-value]
    known = [root + name for root in ROOTS if root + name in definitions.names()]
    return definitions.definition(known[0]) if known else None


@pytest.mark.parametrize("name", sorted(descriptions.known().keys() - {"*"}))
def test_words_are_of_fields_that_there_are(name: str) -> None:
    schema = explained(name)
    assert schema is not None

    assert descriptions.known()[name].keys() <= set(paths(schema))


def test_every_text_is_one_or_more_short_sentences() -> None:
    texts = {text for fields in descriptions.known().values() for text in fields.values()}

    wrong = [text for text in texts if not text[0].isupper() or not text.endswith(".") or len(text) > 140]

    assert wrong == []


@pytest.mark.parametrize("kind", EXPLAINED)
def test_most_fields_of_the_kinds_that_people_ask_for_have_words(kind: str) -> None:
    name = f"io.k8s.api.core.v1.{kind}"

    told = descriptions.of_kind(name, definitions.definition(name))

    assert told["description"]
    fields = definitions.properties(told) or {}
    without = {name for name, held in fields.items() if "description" not in held}
    assert len(without) <= len(fields) // 4, without


def test_a_schema_keeps_the_words_that_it_brings() -> None:
    schema: Schema = {"type": "object", "properties": {"spec": {"type": "object", "description": "Mine."}}}

    told = descriptions.of_kind("karpenter.sh/NodePool", schema)

    assert told["properties"] == {"spec": {"type": "object", "description": "Mine."}}
    assert told["description"] == descriptions.known()["karpenter.sh/NodePool"][""]


def test_a_field_of_items_is_explained_by_its_path() -> None:
    nodes = {"type": "object", "properties": {"nodes": {"type": "string"}}}
    budgets = {"type": "array", "items": nodes}
    disruption = {"type": "object", "properties": {"budgets": budgets}}
    spec = {"type": "object", "properties": {"disruption": disruption}}

    told = descriptions.of_kind("karpenter.sh/NodePool", {"type": "object", "properties": {"spec": spec}})

    words = descriptions.known()["karpenter.sh/NodePool"]
    found = told["properties"]["spec"]["properties"]["disruption"]["properties"]["budgets"]  # type: ignore[index]
    assert found["description"] == words["spec.disruption.budgets"]
    assert "description" not in found["items"]
    assert found["items"]["properties"]["nodes"]["description"] == words["spec.disruption.budgets.nodes"]
