"""Pods that are written alike are made alike, whether or not the server knows them from before."""

import copy
from typing import Any
from unittest import mock

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
