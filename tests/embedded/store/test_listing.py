"""Lists: in the order of keys, selected, in pages of one version, at a version that the reader asks for."""

import base64

import pytest

from baseload.embedded.store.errors import BadRequest, Gone, Invalid, VersionTooNew
from baseload.embedded.store.listing import Asked, Page
from baseload.embedded.store.selection import Selection
from baseload.values import selector
from tests.embedded.store import kinds
from tests.embedded.store.kinds import CONFIG_MAP, NODE, POD, Store, draft


def names(page: Page) -> list[str]:
    return [record.name for record in page.records]


def letters(*, history: int = 10_000) -> Store:
    """A store with config maps a to f."""
    store = kinds.fresh(history=history)
    for name in "fbdace":
        store.create(kinds.config_map(name, labels={"vowel": str(name in "ae")}))
    return store


def test_objects_stand_in_the_order_of_namespace_and_name() -> None:
    store = kinds.fresh()
    for namespace in ("b", "a-b", "a"):
        store.create(kinds.namespace(namespace))
        for name in ("y", "x"):
            store.create(kinds.pod(name, namespace))
    store.delete(POD, "a", "x")
    store.create(kinds.pod("x", "a"))

    keys = [record.key for record in store.list(POD).records]

    assert keys == sorted(["a-b/x", "a-b/y", "a/x", "a/y", "b/x", "b/y"])
    assert names(store.list(POD, Selection("a"))) == ["x", "y"]
    assert names(store.list(POD, Selection("none"))) == []


def test_the_order_holds_where_many_came_and_went_while_nobody_looked() -> None:
    store = kinds.fresh()
    for number in range(5):
        store.create(kinds.config_map(f"stays-{number}"))
    assert len(store.list(CONFIG_MAP).records) == 5
    for number in range(3000):
        store.create(kinds.config_map(f"c{number}"))
        store.delete(CONFIG_MAP, "default", f"c{number}")
        if number % 700 == 0:
            store.create(kinds.config_map(f"c{number}"))
    store.delete(CONFIG_MAP, "default", "stays-3")
    store.create(kinds.config_map("stays-3"))

    wanted = sorted([*(f"stays-{number}" for number in range(5)), "c0", "c700", "c1400", "c2100", "c2800"])
    assert names(store.list(CONFIG_MAP)) == wanted


def test_a_list_has_the_version_of_the_last_write_even_where_it_is_empty() -> None:
    store = kinds.fresh()

    assert store.list(POD).version == store.version > 0


def test_labels_and_fields_select() -> None:
    store = kinds.fresh()
    for name, node, phase in (("a", "n", "Running"), ("b", "n", "Failed"), ("c", "", "Pending"), ("d", "m", "Running")):
        made = kinds.pod(name, node=node, labels={"name": name})
        store.create(made.with_status(b'{"phase":"%b"}' % phase.encode()))

    def found(labels: str = "", fields: str = "") -> list[str]:
        selection = Selection("default", selector.parse(labels), selector.parse_fields(fields))
        return names(store.list(POD, selection))

    assert found("name in (a,c)") == ["a", "c"]
    assert found(fields="spec.nodeName=n") == ["a", "b"]
    assert found(fields="spec.nodeName=") == ["c"]
    assert found(fields="spec.nodeName=n,status.phase!=Failed") == ["a"]
    assert found(fields="metadata.name=b") == ["b"]
    assert found(fields="metadata.name=b,metadata.namespace=other") == []
    assert found("name=a", "status.phase=Running") == ["a"]


def test_the_index_by_node_follows_bindings_and_removals() -> None:
    store = kinds.fresh()
    for name in "abc":
        store.create(kinds.pod(name))
    store.change(POD, "default", "b", lambda old: old.bound("n"))
    store.change(POD, "default", "c", lambda old: old.bound("n"))
    store.delete(POD, "default", "a")

    table = store.table(POD)
    assert [record.name for record in table.on_node("n")] == ["b", "c"]
    assert table.on_node("") == []


def test_a_field_that_the_kind_does_not_offer_is_a_bad_request() -> None:
    store = kinds.fresh()
    selection = Selection(fields=selector.parse_fields("spec.replicas=1"))

    with pytest.raises(BadRequest, match=r"^field label not supported: spec\.replicas$"):
        store.list(POD, selection)
    with pytest.raises(BadRequest):
        store.watch(POD, selection)


def test_a_boolean_field_is_compared_as_its_text() -> None:
    store = kinds.fresh()
    store.create(draft(NODE, "a", spec={"unschedulable": True}))
    store.create(draft(NODE, "b"))

    assert names(store.list(NODE, Selection(fields=selector.parse_fields("spec.unschedulable=true")))) == ["a"]


def test_pages_show_one_version_whatever_happens_between_them() -> None:
    store = letters()
    first = store.list(CONFIG_MAP, asked=Asked(limit=2))
    store.delete(CONFIG_MAP, "default", "c")
    store.delete(CONFIG_MAP, "default", "a")
    store.update(kinds.config_map("d", value="new"))
    store.create(kinds.config_map("cc"))
    store.create(kinds.config_map("c"))

    second = store.list(CONFIG_MAP, asked=Asked(limit=3, token=first.token))
    third = store.list(CONFIG_MAP, asked=Asked(limit=3, token=second.token))

    assert [names(page) for page in (first, second, third)] == [["a", "b"], ["c", "d", "e"], ["f"]]
    assert {page.version for page in (first, second, third)} == {first.version}
    assert [page.remaining for page in (first, second, third)] == [4, 1, None]
    assert second.records[1].body.field("data.value") == ""
    assert third.token == ""


def test_selected_pages_are_full_and_do_not_say_what_remains() -> None:
    store = letters()
    selection = Selection(labels=selector.parse("vowel=False"))

    first = store.list(CONFIG_MAP, selection, Asked(limit=2))
    second = store.list(CONFIG_MAP, selection, Asked(limit=2, token=first.token))

    assert (names(first), names(second)) == (["b", "c"], ["d", "f"])
    assert (first.remaining, second.token) == (None, "")


def test_an_old_token_is_gone_and_its_answer_goes_on_at_the_present() -> None:
    store = letters(history=5)
    first = store.list(CONFIG_MAP, asked=Asked(limit=2))
    for value in range(20):
        store.update(kinds.config_map("e", value=str(value)))

    with pytest.raises(Gone, match="The provided continue parameter is too old") as refusal:
        store.list(CONFIG_MAP, asked=Asked(limit=2, token=first.token))
    rest = store.list(CONFIG_MAP, asked=Asked(token=refusal.value.token))

    assert (refusal.value.code, refusal.value.reason) == (410, "Expired")
    assert names(rest) == ["c", "d", "e", "f"]
    assert rest.version == store.version


def token(content: str) -> str:
    return base64.urlsafe_b64encode(content.encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        "?",
        "ä",
        token("x"),
        token('{"v":"meta.k8s.io/v1","rv":0,"start":"default/a"}'),
        token('{"v":"meta.k8s.io/v1","rv":999999,"start":"default/a"}'),
        token('{"v":"meta.k8s.io/v1","rv":2,"start":"../x"}'),
    ],
)
def test_a_token_that_the_store_did_not_give_is_a_bad_request(text: str) -> None:
    with pytest.raises(BadRequest, match="continue key is not valid"):
        letters().list(CONFIG_MAP, Selection("default"), Asked(token=text))


def test_an_exact_version_shows_that_state() -> None:
    store = letters()
    version = store.version
    store.delete(CONFIG_MAP, "default", "a")
    store.update(kinds.config_map("b", value="new"))
    store.create(kinds.config_map("g"))

    page = store.list(CONFIG_MAP, asked=Asked(version=version, match="Exact"))

    assert (names(page), page.version) == (list("abcdef"), version)
    assert page.records[1].body.field("data.value") == ""
    assert names(store.list(CONFIG_MAP, asked=Asked(limit=1, version=version))) == ["a"]


@pytest.mark.parametrize("asked", [Asked(), Asked(version=0), Asked(version=2), Asked(version=2, match="NotOlderThan")])
def test_other_versions_show_the_present(asked: Asked) -> None:
    store = letters()

    assert store.list(CONFIG_MAP, asked=asked).version == store.version


def test_a_version_ahead_of_the_store_is_not_waited_for() -> None:
    store = letters()

    with pytest.raises(VersionTooNew, match=r"^Timeout: Too large resource version: 900, current: \d+$") as refusal:
        store.list(CONFIG_MAP, asked=Asked(version=900, match="NotOlderThan"))
    with pytest.raises(VersionTooNew):
        store.watch(CONFIG_MAP, version=900)

    assert refusal.value.retry_after == 1


def test_an_exact_version_that_is_no_longer_held_is_gone() -> None:
    store = letters(history=2)
    version = store.version
    for value in range(9):
        store.update(kinds.config_map("e", value=str(value)))

    with pytest.raises(Gone, match=f"^too old resource version: {version} "):
        store.list(CONFIG_MAP, asked=Asked(version=version, match="Exact"))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (Asked(match="Exact"), "resourceVersionMatch is forbidden unless resourceVersion is provided"),
        (Asked(version=0, match="Exact"), 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
        (Asked(token="x", match="NotOlderThan"), "resourceVersionMatch is forbidden for continue"),
    ],
)
def test_requests_that_contradict_themselves_are_invalid(asked: Asked, words: str) -> None:
    with pytest.raises(Invalid) as refusal:
        letters().list(CONFIG_MAP, asked=asked)

    assert str(refusal.value) == (f'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: {words}')


def test_a_later_page_has_its_version_in_its_token() -> None:
    with pytest.raises(BadRequest, match="specifying resource version is not allowed when using continue"):
        letters().list(CONFIG_MAP, asked=Asked(token="x", version=3))
