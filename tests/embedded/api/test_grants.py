"""The index of roles and bindings against a literal reading of Kubernetes' rules, whatever is written and removed."""

import random
from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from baseload.embedded.api.authorize.attributes import Attributes
from baseload.embedded.api.authorize.authorizer import Authorizer
from baseload.embedded.api.identity import Identity
from baseload.embedded.api.kinds import built_in
from baseload.embedded.store import parse
from baseload.embedded.store.store import Store
from tests.embedded.clock import Standing

Objects = dict[tuple[str, str, str], dict[str, Any]]

NAMES = ("a", "b")
SPACES = ("default", "other")
GROUP = "rbac.authorization.k8s.io"


def some(values: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True)


on_resources = st.fixed_dictionaries(
    {
        "verbs": some(("get", "list", "*")),
        "apiGroups": some(("", "apps", "*")),
        "resources": some(("pods", "pods/log", "*/log", "*")),
    },
    optional={"resourceNames": some(NAMES)},
)
on_paths = st.fixed_dictionaries({"verbs": some(("get", "*")), "nonResourceURLs": some(("/x", "/x/*", "/xy*", "*"))})
rules = st.lists(on_resources | on_paths, min_size=1, max_size=3)
subjects = st.lists(
    st.builds(
        lambda kind, name: {"kind": kind, "name": name}, st.sampled_from(("User", "Group")), st.sampled_from(NAMES)
    )
    | st.builds(
        lambda name, where: {"kind": "ServiceAccount", "name": name, **({"namespace": where} if where else {})},
        st.sampled_from(NAMES),
        st.sampled_from(("", *SPACES)),
    ),
    min_size=1,
    max_size=3,
)
keys = st.tuples(
    st.sampled_from(("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")),
    st.sampled_from(SPACES),
    st.sampled_from(NAMES),
)


@st.composite
def writes(draw: st.DrawFn) -> tuple[str, str, str, dict[str, Any] | None]:
    """An object that is put in its place, or, without content, removed from it."""
    kind, namespace, name = draw(keys)
    namespace = "" if kind.startswith("Cluster") else namespace
    if draw(st.integers(0, 4)) == 0:
        return kind, namespace, name, None
    if kind.endswith("Role"):
        return kind, namespace, name, {"rules": draw(rules)}
    of = "ClusterRole" if kind == "ClusterRoleBinding" else draw(st.sampled_from(("Role", "ClusterRole")))
    ref = {"apiGroup": GROUP, "kind": of, "name": draw(st.sampled_from(NAMES))}
    return kind, namespace, name, {"roleRef": ref, "subjects": draw(subjects)}


USERS = (
    Identity("a"),
    Identity("b", ("a",)),
    Identity("c", ("b", "a")),
    Identity("system:serviceaccount:default:a"),
    Identity("system:serviceaccount:other:b", ("b",)),
)
QUESTIONS = (
    Attributes("get", "", "pods", "", "default"),
    Attributes("list", "apps", "pods", "log", "default", "a"),
    Attributes("get", "apps", "pods", "log", "other", "b"),
    Attributes("get", "", "pods"),
    Attributes("delete", "", "secrets", "", "other"),
    Attributes("get", path="/x/y"),
    Attributes("post", path="/xyz"),
)


def literally(objects: Objects, who: Identity, asked: Attributes) -> bool:
    """Whether any rule of any role of any binding that applies allows it: everything is looked at."""
    for (kind, namespace, _), tree in objects.items():
        if kind == "ClusterRoleBinding":
            where = ""
        elif kind == "RoleBinding" and namespace == asked.namespace:
            where = namespace
        else:
            continue
        if any(is_him(subject, who, where) for subject in tree["subjects"]):
            of = tree["roleRef"]["kind"]
            held = objects.get((of, "" if of == "ClusterRole" else where, tree["roleRef"]["name"]))
            if held is not None and any(allows(rule, asked) for rule in held["rules"]):
                return True
    return False


def is_him(subject: dict[str, str], who: Identity, where: str) -> bool:
    if subject["kind"] == "User":
        return subject["name"] == who.name
    if subject["kind"] == "Group":
        return subject["name"] in who.groups
    namespace = subject.get("namespace", where)
    return namespace != "" and who.name == f"system:serviceaccount:{namespace}:{subject['name']}"


def allows(rule: dict[str, list[str]], asked: Attributes) -> bool:
    if "*" not in rule["verbs"] and asked.verb not in rule["verbs"]:
        return False
    if asked.path:
        urls = rule.get("nonResourceURLs", [])
        return any(url in ("*", asked.path) or (url[-1] == "*" and asked.path.startswith(url[:-1])) for url in urls)
    if "apiGroups" not in rule or ("*" not in rule["apiGroups"] and asked.group not in rule["apiGroups"]):
        return False
    combined = asked.resource + (f"/{asked.subresource}" if asked.subresource else "")
    names = [combined, "*"] + ([f"*/{asked.subresource}"] if asked.subresource else [])
    if not set(names) & set(rule["resources"]):
        return False
    return not rule.get("resourceNames") or asked.name in rule["resourceNames"]


@given(st.lists(writes(), min_size=4, max_size=20), st.sampled_from((1, 3, 12)))
def test_the_index_allows_what_the_rules_literally_allow(
    written: list[tuple[str, str, str, dict[str, Any] | None]], every: int
) -> None:
    store = Store(Standing(), random.Random(1), history=2)
    for kind in built_in():
        if kind.resource.group == GROUP:
            store.serve(kind.resource)
    authorizer, objects = Authorizer(store), Objects()
    for number, (name, namespace, key, tree) in enumerate(written, 1):
        put(store, objects, (name, namespace, key), tree)
        if number % every == 0 or number == len(written):  # sometimes the log has gone on without the index
            for who, what in product(USERS, QUESTIONS):
                assert authorizer.allows(who, what) == literally(objects, who, what)
                assert authorizer.decide(who, what).is_allowed == literally(objects, who, what)


def put(store: Store, objects: Objects, key: tuple[str, str, str], tree: dict[str, Any] | None) -> None:
    kind, namespace, name = key
    resource = store.resource_of(GROUP, kind)
    assert resource is not None
    known = objects.pop(key, None) is not None
    if tree is not None:
        metadata: dict[str, Any] = {"name": name, "namespace": namespace}
        draft = parse.parse_object(resource, {"metadata": metadata, **tree})
        objects[key] = tree
        store.update(draft) if known else store.create(draft)
    elif known:
        store.delete(resource, namespace, name)
