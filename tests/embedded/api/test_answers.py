"""Lists, tables, metadata alone, compression, and what goes with an answer."""

import gzip
import json

import pytest

from tests.embedded.api.calling import MAPS, MERGE, PODS, Server, config_map, pod

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


def test_a_list_tells_its_version_and_continues_at_it() -> None:
    server = Server()
    for name in "abc":
        server.call("POST", MAPS, config_map(name))

    first = server.call("GET", f"{MAPS}?limit=2").tree
    server.call("DELETE", f"{MAPS}/c")
    second = server.call("GET", f"{MAPS}?limit=2&continue={first['metadata']['continue']}").tree

    assert [item["metadata"]["name"] for item in first["items"] + second["items"]] == ["a", "b", "c"]
    assert first["metadata"]["remainingItemCount"] == 1
    assert first["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]


@pytest.mark.parametrize("path", [MAPS, "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"])
def test_a_list_of_built_in_objects_says_once_what_they_are(path: str) -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a", x="1"))
    target = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 2}
    scaler = {"metadata": {"name": "a"}, "spec": target}
    made = server.call("POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", scaler)
    assert made.code == 201, made.tree

    (item,) = server.call("GET", path).tree["items"]

    assert item["metadata"]["name"] == "a"
    assert not {"kind", "apiVersion"} & item.keys()


def test_a_table_holds_the_objects_as_the_client_asks() -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a", x="1", y="2"))

    tables = {
        include: server.call("GET", f"{MAPS}?includeObject={include}", headers={"accept": TABLE}).tree
        for include in ("None", "Metadata", "Object")
    }

    assert [column["name"] for column in tables["None"]["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert all(table["rows"][0]["cells"] == ["a", 2, "0s"] for table in tables.values())
    assert "object" not in tables["None"]["rows"][0]
    assert tables["Metadata"]["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    assert tables["Object"]["rows"][0]["object"]["data"] == {"x": "1", "y": "2"}


def test_metadata_alone_is_given_where_that_is_asked_for() -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a", x="1"))
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

    told = server.call("GET", MAPS, headers={"accept": accept}).tree

    assert told["kind"] == "PartialObjectMetadataList"
    assert [set(item) for item in told["items"]] == [{"kind", "apiVersion", "metadata"}]


def test_large_answers_are_compressed_for_those_who_take_that() -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a", x="y" * 200_000))

    plain = server.call("GET", MAPS)
    packed = server.call("GET", MAPS, headers={"accept-encoding": "gzip"})

    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < 5_000


def test_a_write_notes_its_manager() -> None:
    server = Server()
    server.call("POST", f"{MAPS}?fieldManager=first", config_map("a", x="1"))
    server.call("PATCH", f"{MAPS}/a?fieldManager=second", {"data": {"y": "2"}}, MERGE)

    managed = server.call("GET", f"{MAPS}/a").tree["metadata"]["managedFields"]

    assert [(entry["manager"], entry["operation"]) for entry in managed] == [("first", "Update"), ("second", "Update")]


def test_a_status_is_written_by_its_subresource_alone() -> None:
    server = Server()
    server.call("POST", PODS, {**pod("a"), "status": {"phase": "Running"}})
    assert server.call("GET", f"{PODS}/a").tree["status"] == {"phase": "Pending", "qosClass": "BestEffort"}

    server.call("PATCH", f"{PODS}/a", {"status": {"phase": "Failed"}}, MERGE)
    assert server.call("GET", f"{PODS}/a").tree["status"] == {"phase": "Pending", "qosClass": "BestEffort"}

    both = {"status": {"phase": "Running"}, "metadata": {"labels": {"a": "b"}}}
    server.call("PATCH", f"{PODS}/a/status", both, MERGE)
    tree = server.call("GET", f"{PODS}/a").tree
    assert tree["status"] == {"phase": "Running", "qosClass": "BestEffort"}
    assert "labels" not in tree["metadata"]


def test_pods_get_what_kubernetes_fills_in() -> None:
    server = Server()
    spec = server.call("POST", PODS, pod("a")).tree["spec"]

    assert spec["serviceAccountName"] == "default"
    assert spec["terminationGracePeriodSeconds"] == 30
    assert [held["key"].rpartition("/")[2] for held in spec["tolerations"]] == ["not-ready", "unreachable"]
    assert spec["containers"][0]["imagePullPolicy"] == "IfNotPresent"


def test_preconditions_of_a_delete_count() -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a"))

    refused = server.call("DELETE", f"{MAPS}/a", {"preconditions": {"uid": "other"}})
    dry = server.call("DELETE", f"{MAPS}/a?dryRun=All")

    assert (refused.code, refused.reason) == (409, "Conflict")
    assert dry.code == 200
    assert server.call("GET", f"{MAPS}/a").code == 200
    assert server.call("DELETE", f"{MAPS}/a", {}).tree["status"] == "Success"


@pytest.mark.parametrize("version", ["1x", "\u00f1", "9" * 30])
def test_a_version_that_no_object_can_have_is_a_precondition_that_fails(version: str) -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a"))
    assert server.call("DELETE", f"{MAPS}/a", {"preconditions": {"resourceVersion": version}}).code == 409
    assert server.call("GET", f"{MAPS}/a").code == 200


def test_yaml_is_read_as_json_is() -> None:
    server = Server()
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '1'}\n"

    answer = server.call("POST", MAPS, text, {"content-type": "application/yaml"})

    assert (answer.code, answer.tree["data"]) == (201, {"x": "1"})


def test_discovery_is_the_same_in_both_its_forms() -> None:
    server = Server()
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    aggregated = server.call("GET", "/apis", headers={"accept": accept})
    groups = server.call("GET", "/apis").tree["groups"]

    assert aggregated.headers["content-type"] == accept
    assert [item["metadata"]["name"] for item in aggregated.tree["items"]] == [group["name"] for group in groups]
    for item in aggregated.tree["items"]:
        for version in item["versions"]:
            listed = server.call("GET", f"/apis/{item['metadata']['name']}/{version['version']}").tree["resources"]
            plain = [row["name"] for row in listed if "/" not in row["name"]]
            assert plain == [row["resource"] for row in version["resources"]]


def test_every_reference_in_the_openapi_documents_is_defined() -> None:
    server = Server()
    for path in server.call("GET", "/openapi/v3").tree["paths"]:
        document = server.call("GET", f"/openapi/v3/{path}").body
        names = set(json.loads(document)["components"]["schemas"])
        referred = {part.partition(b'"')[0].decode() for part in document.split(b"#/components/schemas/")[1:]}
        assert referred <= names


def test_a_pod_is_bound_once() -> None:
    server = Server()
    server.call("POST", PODS, pod("a"))
    binding = {"target": {"kind": "Node", "name": "n1"}}

    assert server.call("POST", f"{PODS}/a/binding", binding).code == 201
    tree = server.call("GET", f"{PODS}/a").tree
    assert tree["spec"]["nodeName"] == "n1"
    assert [held["type"] for held in tree["status"]["conditions"]] == ["PodScheduled"]
    again = server.call("POST", f"{PODS}/a/binding", binding)
    assert (again.code, again.reason) == (409, "Conflict")
    assert server.call("POST", f"{PODS}/a/binding", {}).code == 400


def test_a_budget_that_lags_behind_asks_to_come_again() -> None:
    server = Server()
    server.call("POST", PODS, pod("a"))
    server.call("PATCH", f"{PODS}/a/status", {"status": {"phase": "Running"}}, MERGE)
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {}}}
    server.call("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget)

    answer = server.call("POST", f"{PODS}/a/eviction", {"metadata": {"name": "a"}})

    assert (answer.code, answer.reason, answer.headers["retry-after"]) == (429, "TooManyRequests", "10")


def test_services_get_addresses_that_they_keep() -> None:
    server = Server()
    path = "/api/v1/namespaces/default/services"
    web: dict[str, object] = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}
    headless: dict[str, object] = {"metadata": {"name": "less"}, "spec": {"clusterIP": "None", "ports": [{"port": 80}]}}

    first = server.call("POST", path, web).tree["spec"]
    second = server.call("POST", path, {**web, "metadata": {"name": "api"}}).tree["spec"]

    assert (first["clusterIP"], second["clusterIP"]) == ("10.96.0.2", "10.96.0.3")
    assert server.call("PUT", f"{path}/web", web).tree["spec"] == first
    assert server.call("POST", path, headless).tree["spec"]["clusterIP"] == "None"


def test_a_delete_answers_the_object_where_a_real_server_does() -> None:
    server = Server()
    accounts, jobs = "/api/v1/namespaces/default/serviceaccounts", "/apis/batch/v1/namespaces/default/cronjobs"
    account = server.call("POST", accounts, {"metadata": {"name": "bot"}}).tree
    gone = server.call("DELETE", f"{accounts}/bot").tree
    assert (gone["kind"], gone["metadata"]["uid"]) == ("ServiceAccount", account["metadata"]["uid"])
    assert server.call("GET", f"{accounts}/bot").code == 404

    template = {"template": {"spec": {**pod("x")["spec"], "restartPolicy": "Never"}}}
    nightly = {"metadata": {"name": "nightly"}, "spec": {"schedule": "0 1 * * *", "jobTemplate": {"spec": template}}}
    assert server.call("POST", jobs, nightly).code == 201
    gone = server.call("DELETE", f"{jobs}/nightly").tree
    assert (gone["kind"], gone["status"], gone["details"]["name"]) == ("Status", "Success", "nightly")


def test_the_pods_of_a_job_stay_unless_the_delete_says_what_becomes_of_them() -> None:
    jobs = "/apis/batch/v1/namespaces/default/jobs"
    for options, stays in (({}, True), ({"propagationPolicy": "Background"}, False)):
        server = Server()
        spec = {"template": {"spec": {**pod("x")["spec"], "restartPolicy": "Never"}}}
        job = server.call("POST", jobs, {"metadata": {"name": "job"}, "spec": spec}).tree
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "job", "uid": job["metadata"]["uid"]}
        its = pod("its")
        its["metadata"]["ownerReferences"] = [owner]
        assert server.call("POST", PODS, its).code == 201

        assert server.call("DELETE", f"{jobs}/job", options).code == 200
        server.cluster.store.tidy()

        assert server.call("GET", f"{jobs}/job").code == 404
        left = server.call("GET", f"{PODS}/its")
        assert left.code == (200 if stays else 404)
        assert not stays or "ownerReferences" not in left.tree["metadata"]
