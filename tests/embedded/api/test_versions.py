"""One stored object in each version in which its kind is served."""

import json
from typing import Any, Final

import pytest

from baseload.embedded.api import autoscalers, versions
from tests.embedded.api.calling import JSON, MERGE, Server

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SCALERS: Final = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers"
EVENTS: Final = ("/api/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events")
GEARS: Final = "/apis/example.com/{}/namespaces/default/gears"
TABLE: Final = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}


def version(name: str, fields: dict[str, Any], *, storage: bool = False, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}, **more}


def definition(*versions: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gears.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "gears", "kind": "Gear"},
            "versions": list(versions),
        },
    }


def gears() -> Server:
    """A kind in three versions, of which v1 is stored."""
    server = Server()
    size, text = {"size": {"type": "integer"}}, {"type": "string"}
    made = server.call(
        "POST",
        DEFINITIONS,
        definition(
            version(
                "v1alpha1",
                {**size, "colour": {"type": "string", "default": "red"}, "old": text},
                selectableFields=[{"jsonPath": ".spec.colour"}],
            ),
            version("v2beta1", {**size, "colour": text}),
            version("v1", {**size, "colour": text, "new": text}, storage=True, subresources={"status": {}}),
        ),
    )
    assert made.code == 201, made.body
    return server


def gear(api_version: str = "v1alpha1", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"example.com/{api_version}", "kind": "Gear", "metadata": {"name": "g"}, "spec": spec}


def test_an_object_is_read_in_each_version_with_the_fields_that_both_have() -> None:
    server = gears()

    made = server.call("POST", GEARS.format("v1alpha1"), gear(size=1, old="gone"))

    assert (made.tree["apiVersion"], made.tree["spec"]) == ("example.com/v1alpha1", {"size": 1, "colour": "red"})
    for name in ("v1", "v2beta1"):
        found = server.call("GET", f"{GEARS.format(name)}/g").tree
        assert (found["apiVersion"], found["spec"]) == (f"example.com/{name}", {"size": 1, "colour": "red"})
    listed = server.call("GET", GEARS.format("v2beta1")).tree
    assert (listed["apiVersion"], listed["items"][0]["apiVersion"]) == ("example.com/v2beta1", "example.com/v2beta1")


def test_an_object_is_written_in_any_version_and_each_writer_is_noted_in_his_own() -> None:
    server = gears()
    server.call("POST", GEARS.format("v1alpha1") + "?fieldManager=a", gear(size=1))
    server.call("PATCH", GEARS.format("v1") + "/g?fieldManager=b", {"spec": {"new": "x"}}, MERGE)
    changed = server.call("PATCH", GEARS.format("v2beta1") + "/g?fieldManager=c", {"spec": {"size": 2}}, MERGE)

    assert changed.tree["spec"] == {"size": 2, "colour": "red"}
    stored = server.call("GET", f"{GEARS.format('v1')}/g").tree
    assert stored["metadata"]["generation"] == 3
    managers = {entry["manager"]: entry["apiVersion"] for entry in stored["metadata"]["managedFields"]}
    assert managers == {"a": "example.com/v1alpha1", "b": "example.com/v1", "c": "example.com/v2beta1"}


def test_a_status_is_a_subresource_in_those_versions_alone_that_say_so() -> None:
    server = gears()
    server.call("POST", GEARS.format("v1"), gear("v1", size=1))

    assert server.call("GET", f"{GEARS.format('v1')}/g/status").code == 200
    assert server.call("GET", f"{GEARS.format('v2beta1')}/g/status").code == 404


def test_a_field_may_be_selected_by_in_the_versions_that_offer_it() -> None:
    server = gears()
    server.call("POST", GEARS.format("v1alpha1"), gear(size=1))

    assert len(server.call("GET", GEARS.format("v1alpha1") + "?fieldSelector=spec.colour=red").tree["items"]) == 1
    assert server.call("GET", GEARS.format("v1alpha1") + "?fieldSelector=spec.colour=blue").tree["items"] == []
    refused = server.call("GET", GEARS.format("v1") + "?fieldSelector=spec.colour%3Dred&labelSelector=a")
    assert (refused.code, refused.reason) == (400, "BadRequest")
    assert refused.message == "field label not supported: spec.colour"


def test_a_watch_tells_of_objects_in_its_own_version() -> None:
    server = gears()
    server.closing.set()
    server.call("POST", GEARS.format("v1"), gear("v1", size=1))
    kind = server.cluster.kinds.find("example.com", "v2beta1", "gears")
    assert kind is not None
    watch = server.cluster.store.watch(kind.resource, initial_events=True)

    from baseload.embedded.api.answers import converted

    lines = [json.loads(converted(kind, event)) for event in watch.read()]
    assert [(line["type"], line["object"]["apiVersion"]) for line in lines] == [
        ("ADDED", "example.com/v2beta1"),
        ("BOOKMARK", "example.com/v2beta1"),
    ]


def test_the_preferred_version_of_a_group_is_its_most_mature() -> None:
    server = gears()

    group = server.call("GET", "/apis/example.com").tree
    assert [held["version"] for held in group["versions"]] == ["v1", "v2beta1", "v1alpha1"]
    assert server.call("GET", "/apis/autoscaling").tree["preferredVersion"]["version"] == "v2"
    names = ["v1", "v10", "v2", "v1beta2", "v1beta1", "v3alpha1", "apple", "zebra"]
    assert sorted(names, key=versions.rank, reverse=True) == [
        "v10",
        "v2",
        "v1",
        "v1beta2",
        "v1beta1",
        "v3alpha1",
        "apple",
        "zebra",
    ]


def test_a_definition_that_stores_another_version_goes_on_with_the_same_objects() -> None:
    server = gears()
    server.call("POST", GEARS.format("v1"), gear("v1", size=1))
    name = f"{DEFINITIONS}/gears.example.com"
    held = server.call("GET", name).tree
    for told in held["spec"]["versions"]:
        told["storage"] = told["name"] == "v2beta1"
    assert server.call("PUT", name, held).code == 200

    for told in ("v1", "v2beta1", "v1alpha1"):
        found = server.call("GET", f"{GEARS.format(told)}/g")
        assert (found.code, found.tree["apiVersion"]) == (200, f"example.com/{told}")


SCALER: Final = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "a", "annotations": {"mine": "kept"}},
    "spec": {
        "maxReplicas": 5,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "metrics": [
            {"type": "Resource", "resource": {"name": "memory", "target": {"type": "Utilization"}}},
            {
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}},
            },
            {
                "type": "Pods",
                "pods": {
                    "metric": {"name": "rps", "selector": {"matchLabels": {"a": "b"}}},
                    "target": {"type": "AverageValue", "averageValue": "10"},
                },
            },
            {"type": "External", "external": {"metric": {"name": "q"}, "target": {"type": "Value", "value": "3"}}},
            {
                "type": "Object",
                "object": {
                    "describedObject": {"kind": "Service", "name": "x", "apiVersion": "v1"},
                    "metric": {"name": "m"},
                    "target": {"type": "Value", "value": "5"},
                },
            },
            {
                "type": "ContainerResource",
                "containerResource": {
                    "name": "cpu",
                    "container": "main",
                    "target": {"type": "Utilization", "averageUtilization": 50},
                },
            },
        ],
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 10}},
    },
}


def test_an_autoscaler_of_v2_has_its_metrics_as_annotations_in_v1() -> None:
    shown: Any = autoscalers.as_v1(json.loads(json.dumps(SCALER)))

    assert shown["spec"]["targetCPUUtilizationPercentage"] == 70
    annotations = shown["metadata"]["annotations"]
    # As kube-apiserver v1.37.2 writes them, the memory target's utilization aside.
    assert json.loads(annotations["autoscaling.alpha.kubernetes.io/metrics"]) == [
        {"type": "Resource", "resource": {"name": "memory"}},
        {
            "type": "Pods",
            "pods": {"metricName": "rps", "targetAverageValue": "10", "selector": {"matchLabels": {"a": "b"}}},
        },
        {"type": "External", "external": {"metricName": "q", "targetValue": "3"}},
        {
            "type": "Object",
            "object": {
                "target": {"kind": "Service", "name": "x", "apiVersion": "v1"},
                "metricName": "m",
                "targetValue": "5",
            },
        },
        {
            "type": "ContainerResource",
            "containerResource": {"name": "cpu", "targetAverageUtilization": 50, "container": "main"},
        },
    ]
    assert json.loads(annotations["autoscaling.alpha.kubernetes.io/behavior"])["ScaleDown"] == {
        "StabilizationWindowSeconds": 10,
        "SelectPolicy": None,
        "Policies": None,
        "Tolerance": None,
    }
    assert annotations["mine"] == "kept"


def test_an_autoscaler_that_is_read_in_v1_and_written_back_loses_nothing() -> None:
    server = Server()
    tree = json.loads(json.dumps(SCALER))
    tree["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] = 60
    before = server.call("POST", SCALERS.format("v2"), tree).tree

    old = server.call("GET", SCALERS.format("v1") + "/a").tree
    old["spec"]["maxReplicas"] = 9
    assert server.call("PUT", SCALERS.format("v1") + "/a", old).code == 200

    after = server.call("GET", SCALERS.format("v2") + "/a").tree
    assert after["spec"]["maxReplicas"] == 9
    assert after["spec"]["behavior"] == before["spec"]["behavior"]
    metrics, kept = before["spec"]["metrics"], after["spec"]["metrics"]
    assert len(kept) == len(metrics)
    assert all(metric in metrics for metric in kept)
    assert after["metadata"]["annotations"] == {"mine": "kept"}


def test_an_autoscaler_of_v1_without_a_target_aims_at_80_per_cent_of_cpu() -> None:
    server = Server()
    spec = {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}
    tree = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "a"}, "spec": spec}

    made = server.call("POST", SCALERS.format("v1"), tree)

    assert (made.code, made.tree["spec"]["targetCPUUtilizationPercentage"]) == (201, 80)
    (metric,) = server.call("GET", SCALERS.format("v2") + "/a").tree["spec"]["metrics"]
    assert metric["resource"] == {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
    rows = [server.call("GET", SCALERS.format(name), headers=TABLE).tree["rows"][0]["cells"] for name in ("v1", "v2")]
    assert rows[0] == rows[1]


@pytest.mark.parametrize(("written", "read"), [(0, 1), (1, 0)])
def test_an_event_of_either_group_is_one_of_the_other(written: int, read: int) -> None:
    server = Server()
    regarding = {"kind": "Pod", "name": "p", "namespace": "default", "apiVersion": "v1"}
    forms: tuple[dict[str, Any], dict[str, Any]] = (
        {
            "apiVersion": "v1",
            "involvedObject": regarding,
            "message": "hello",
            "source": {"component": "kubelet"},
            "count": 3,
            "reportingComponent": "my.io/ctl",
        },
        {
            "apiVersion": "events.k8s.io/v1",
            "regarding": regarding,
            "note": "hello",
            "deprecatedSource": {"component": "kubelet"},
            "deprecatedCount": 3,
            "reportingController": "my.io/ctl",
        },
    )
    common = {"kind": "Event", "metadata": {"name": "e"}, "type": "Normal", "reason": "Because"}

    assert server.call("POST", EVENTS[written], {**common, **forms[written]}, JSON).code == 201

    found = server.call("GET", f"{EVENTS[read]}/e").tree
    assert {key: found[key] for key in forms[read]} == forms[read]
    assert found["metadata"]["managedFields"][0]["apiVersion"] == forms[written]["apiVersion"]
    assert len(server.call("GET", EVENTS[1] + "?fieldSelector=regarding.name=p").tree["items"]) == 1
    assert len(server.call("GET", EVENTS[0] + "?fieldSelector=involvedObject.name=p").tree["items"]) == 1
    refused = server.call("GET", EVENTS[1] + "?fieldSelector=involvedObject.name=p")
    assert refused.message.endswith("field label not supported: involvedObject.name")


def test_an_event_that_is_not_there_is_missed_in_the_words_of_its_group() -> None:
    server = Server()

    missing = server.call("GET", f"{EVENTS[1]}/none")
    assert missing.message == 'events.events.k8s.io "none" not found'
    assert missing.tree["details"] == {"name": "none", "group": "events.k8s.io", "kind": "events"}
    assert server.call("GET", f"{EVENTS[0]}/none").message == 'events "none" not found'


def test_each_version_that_is_served_has_an_api_service() -> None:
    server = gears()
    path = "/apis/apiregistration.k8s.io/v1/apiservices"

    names = [item["metadata"]["name"] for item in server.call("GET", path).tree["items"]]
    assert {"v1.", "v1.apps", "v2.autoscaling", "v1alpha1.example.com", "v2beta1.example.com"} <= set(names)
    row = server.call("GET", f"{path}/v2.autoscaling", headers=TABLE).tree["rows"][0]["cells"]
    assert row[:3] == ["v2.autoscaling", "Local", "True"]
    server.call("DELETE", f"{DEFINITIONS}/gears.example.com")
    left = [item["metadata"]["name"] for item in server.call("GET", path).tree["items"]]
    assert set(names) - set(left) == {"v1.example.com", "v1alpha1.example.com", "v2beta1.example.com"}
