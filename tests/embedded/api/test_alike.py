"""Pods that are written alike are made alike, whether or not the server knows them from before."""

import copy
from typing import Any
from unittest import mock

import msgspec

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.api import alike, validation
from baseload.embedded.store.record import encode
from tests.embedded.api.calling import PODS, Server, pod

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


def default_class(name: str, value: int) -> dict[str, Any]:
    return {"metadata": {"name": name}, "value": value, "globalDefault": True}


def made(server: Server, body: dict[str, Any]) -> dict[str, Any]:
    """What became of a pod, without what is its own."""
    tree: dict[str, Any] = copy.deepcopy(server.call("POST", PODS, body).tree)
    for own in ("name", "uid", "resourceVersion"):
        del tree["metadata"][own]
    return tree


def test_the_third_of_its_kind_is_like_the_others_but_for_name_uid_and_time() -> None:
    server = Server()
    server.call("POST", PODS, pod("one"))
    first = server.call("POST", PODS, pod("first")).tree
    server.clock.forward(90)

    with mock.patch("baseload.embedded.api.validation.check", side_effect=AssertionError("was looked at again")):
        third = server.call("POST", PODS, pod("third")).tree

    assert third["metadata"]["name"] == "third"
    assert third["metadata"]["uid"] != first["metadata"]["uid"]
    assert third["metadata"]["creationTimestamp"] == third["metadata"]["managedFields"][0]["time"]
    assert third["metadata"]["creationTimestamp"] > first["metadata"]["creationTimestamp"]
    assert third["spec"] == first["spec"]
    assert third["status"] == first["status"]
    assert third["metadata"]["managedFields"][0]["fieldsV1"] == first["metadata"]["managedFields"][0]["fieldsV1"]


def test_a_name_that_stands_elsewhere_too_is_not_taken_for_a_mere_name() -> None:
    server = Server()
    for name in ("a", "b", "c"):
        body = pod(name)
        body["metadata"]["labels"] = {"who": name}
        assert server.call("POST", PODS, body).tree["metadata"]["labels"] == {"who": name}


def test_a_wrong_name_is_refused_however_often_the_rest_was_seen() -> None:
    server = Server()
    for name in "abc":
        server.call("POST", PODS, pod(name))

    answer = server.call("POST", PODS, pod("A_B"))

    assert (answer.code, answer.reason) == (422, "Invalid")
    assert answer.message.startswith('Pod "A_B" is invalid: metadata.name: Invalid value: "A_B"')
    again = server.call("POST", PODS, pod("a"))
    assert (again.code, again.message) == (409, 'pods "a" already exists')


def test_what_admission_looked_at_is_looked_at_again_when_it_has_changed() -> None:
    server = Server()
    before = [made(server, pod(name)) for name in ("x", "y", "a")][-1]
    server.call("POST", CLASSES, default_class("usual", 7))
    after = made(server, pod("b"))

    assert (before["spec"]["priority"], after["spec"]["priority"]) == (0, 7)
    server.call("DELETE", f"{ACCOUNTS}/default")
    answer = server.call("POST", PODS, pod("c"))
    assert (answer.code, answer.reason) == (403, "Forbidden")
    assert answer.message.endswith(
        'error looking up service account default/default: serviceaccount "default" not found'
    )


def test_unknown_fields_are_warned_about_each_time() -> None:
    server = Server()
    for name in ("a", "b", "c"):
        body = pod(name)
        body["spec"]["nodeSelectr"] = {}
        answer = server.call("POST", PODS, body)
        assert 'unknown field \\"spec.nodeSelectr\\"' in answer.headers["warning"]


def test_each_manager_gets_an_entry_of_his_own() -> None:
    server = Server()
    managers = []
    for name, manager in (("a", "one"), ("b", "two"), ("c", "one"), ("d", "two"), ("e", "one")):
        tree = server.call("POST", f"{PODS}?fieldManager={manager}", pod(name)).tree
        managers.append(tree["metadata"]["managedFields"][0]["manager"])

    assert managers == ["one", "two", "one", "two", "one"]


def for_node(name: str, *, containers: str = "main") -> dict[str, Any]:
    """A pod of a DaemonSet for a node."""
    tree = pod("")
    tree["metadata"] = {"generateName": "agent-"}
    tree["spec"]["containers"][0]["name"] = containers
    here = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [here]}}
    tree["spec"]["affinity"] = {"nodeAffinity": required}
    return tree


def daemons(nodes: list[str], *, containers: str = "main") -> list[dict[str, Any]]:
    """What becomes of the pods for some nodes, one after the other."""
    cluster = Server().cluster
    client, found = ActorClient(cluster, "controller"), []
    for node in nodes:
        body = msgspec.json.encode(for_node(node, containers=containers))
        record = client.create(client.kind("", "Pod"), "default", body, place=node)
        found.append(msgspec.json.decode(encode(record)))
    return found


def test_pods_for_places_of_their_own_are_alike_but_for_the_place() -> None:
    nodes = ["one", "two", "three", "four"]
    with mock.patch.object(alike, "likeness", return_value=None):
        wanted = daemons(nodes)
    with mock.patch("baseload.embedded.api.validation.check", wraps=validation.check) as checked:
        assert daemons(nodes) == wanted
    assert checked.call_count == 2


def test_a_place_that_is_the_name_of_something_else_too_stays_that() -> None:
    nodes = ["one", "main", "two", "three", "main", "four"]
    with mock.patch.object(alike, "likeness", return_value=None):
        wanted = daemons(nodes)
    assert daemons(nodes) == wanted
    assert {it["spec"]["containers"][0]["name"] for it in wanted} == {"main"}
