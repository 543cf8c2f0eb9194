"""Empty values in what clients send: those that a real server forgets are forgotten before anything else looks.

All answers are those of kube-apiserver v1.37.2 to the same requests.
"""

from typing import Any

import pytest

from tests.embedded.api.calling import JSON, MAPS, MERGE, PODS, Server, config_map, pod

STRATEGIC = {"content-type": "application/strategic-merge-patch+json"}
APPLY = {"content-type": "application/apply-patch+yaml"}
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"


def fields(tree: Any) -> Any:
    return [entry["fieldsV1"] for entry in tree["metadata"].get("managedFields", [])]


def test_nobody_manages_what_was_forgotten() -> None:
    empties: dict[str, Any] = {"labels": {}, "annotations": {}, "finalizers": [], "ownerReferences": []}
    sent = {"metadata": {"name": "a", **empties}, "data": {}, "binaryData": None, "immutable": None}

    made = Server().call("POST", MAPS, sent).tree

    assert made.keys() == {"kind", "apiVersion", "metadata"}
    assert made["metadata"].keys() == {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}


def test_null_for_a_label_is_an_empty_label() -> None:
    made = Server().call("POST", MAPS, {"metadata": {"name": "a", "labels": {"a": None}}, "data": {"x": None}}).tree

    assert (made["metadata"]["labels"], made["data"]) == ({"a": ""}, {"x": ""})
    assert fields(made) == [{"f:data": {".": {}, "f:x": {}}, "f:metadata": {"f:labels": {".": {}, "f:a": {}}}}]


def test_rules_that_nobody_gave_are_null() -> None:
    server = Server()

    made = server.call("POST", ROLES, {"metadata": {"name": "a"}}).tree

    assert made["rules"] is None
    assert fields(made) == []
    assert server.call("GET", f"{ROLES}/a").tree["rules"] is None


def test_null_in_a_list_of_containers_is_a_container_without_a_name() -> None:
    refused = Server().call("POST", PODS, {"metadata": {"name": "p"}, "spec": {"containers": [None]}})

    assert refused.code == 422
    assert refused.message == (
        'Pod "p" is invalid: [spec.containers[0].name: Required value, spec.containers[0].image: Required value]'
    )


def test_metadata_of_custom_resources_forgets_the_same() -> None:
    server = Server()
    names = {"plural": "widgets", "kind": "Widget", "shortNames": [], "categories": []}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "required": []}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema, "additionalPrinterColumns": []}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    defined = server.call(
        "POST",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        {"metadata": {"name": "widgets.example.com"}, "spec": spec},
    )
    assert defined.tree["spec"]["names"].keys() == {"plural", "singular", "kind", "listKind"}
    assert "required" not in defined.tree["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    metadata: dict[str, Any] = {"name": "w", "labels": {}, "annotations": None, "finalizers": [], "generateName": ""}
    sent = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, "spec": {"a": {}, "b": []}}

    made = server.call("POST", "/apis/example.com/v1/namespaces/default/widgets", sent).tree

    assert made["spec"] == {"a": {}, "b": []}
    assert fields(made) == [{"f:spec": {".": {}, "f:a": {}, "f:b": {}}}]
    assert made["metadata"].keys().isdisjoint(("labels", "annotations", "finalizers", "generateName"))


def test_applying_empty_values_again_is_no_change() -> None:
    server = Server()
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {}}, "data": {}}

    first, second = (server.call("PATCH", f"{MAPS}/a?fieldManager=x", config, APPLY) for _ in range(2))

    assert "data" not in first.tree
    assert fields(first.tree) == [{"f:data": {}, "f:metadata": {"f:labels": {}}}]
    assert second.tree == first.tree


def test_whoever_applied_an_empty_map_holds_it() -> None:
    server = Server()
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {}}, "data": {}}
    server.call("PATCH", f"{MAPS}/a?fieldManager=x", config, APPLY)
    config |= {"metadata": {"name": "a", "labels": {"a": "b"}}, "data": {"x": "y"}}

    refused = server.call("PATCH", f"{MAPS}/a?fieldManager=y", config, APPLY)

    assert refused.code == 409
    assert refused.message == 'Apply failed with 2 conflicts: conflicts with "x":\n- .data\n- .metadata.labels'


@pytest.mark.parametrize("headers", [MERGE, STRATEGIC])
def test_a_status_forgets_what_a_patch_empties(headers: dict[str, str]) -> None:
    server = Server()
    server.call("POST", PODS, pod("p"))
    condition = {"type": "Ready", "status": "True", "reason": "", "lastProbeTime": None}
    state = {"name": "main", "ready": False, "restartCount": 0, "image": "", "imageID": "", "state": {}}
    status = {"conditions": [condition], "containerStatuses": [{**state, "lastState": {}}], "message": "", "podIPs": []}

    told = server.call("PATCH", f"{PODS}/p/status", {"status": status}, headers).tree["status"]

    assert told.keys() == {"phase", "qosClass", "conditions", "containerStatuses"}
    times = {"lastProbeTime": None, "lastTransitionTime": None}
    assert told["conditions"] == [{"type": "Ready", "status": "True", **times}]
    assert told["containerStatuses"] == [{**state, "lastState": {}}]
    gone = {"conditions": [{"type": "Ready", "$patch": "delete"}]} if headers == STRATEGIC else {"conditions": []}
    told = server.call("PATCH", f"{PODS}/p/status", {"status": gone}, headers).tree["status"]
    assert told.keys() == {"phase", "qosClass", "containerStatuses"}


def test_an_event_is_told_with_the_times_that_it_has_not() -> None:
    server = Server()
    events = "/api/v1/namespaces/default/events"

    made = server.call("POST", events, {"metadata": {"name": "e"}, "involvedObject": {"namespace": "default"}}).tree

    for name in ("eventTime", "firstTimestamp", "lastTimestamp"):
        assert made[name] is None
    assert (made["source"], made["reportingComponent"], made["reportingInstance"]) == ({}, "", "")
    newer = server.call("GET", "/apis/events.k8s.io/v1/namespaces/default/events/e").tree
    assert newer.keys().isdisjoint(("note", "reportingController", "reportingInstance"))


def test_a_dry_run_makes_an_object_that_was_never_in_a_version() -> None:
    made = Server().call("POST", f"{MAPS}?dryRun=All", config_map("a"), JSON).tree

    assert "resourceVersion" not in made["metadata"]
    assert made["metadata"]["uid"]


def test_a_service_without_a_selector_and_an_address_is_of_both_families() -> None:
    services, spec = "/api/v1/namespaces/default/services", {"clusterIP": "None", "ports": [{"port": 80}]}

    made = Server().call("POST", services, {"metadata": {"name": "s"}, "spec": {**spec, "selector": {}}}).tree["spec"]

    assert "selector" not in made
    assert (made["ipFamilyPolicy"], made["ipFamilies"]) == ("RequireDualStack", ["IPv4", "IPv6"])


def test_no_other_service_is_of_a_family_that_the_cluster_has_not() -> None:
    server, services = Server(), "/api/v1/namespaces/default/services"
    spec = {"ports": [{"port": 80}], "selector": {"a": "b"}}
    said = []

    for more in ({"ipFamilies": ["IPv6"]}, {"ipFamilies": ["IPv4", "IPv6"]}):
        refused = server.call("POST", services, {"metadata": {"name": "s"}, "spec": {**spec, **more}})
        said.append((refused.code, refused.message.removeprefix('Service "s" is invalid: ')))

    assert said == [
        (422, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'),
        (
            422,
            "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when "
            "multiple IP families are specified",
        ),
    ]
