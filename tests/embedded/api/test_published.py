"""Discovery and OpenAPI change only when another kind is served: clients may keep what they have."""

from typing import Final

import pytest

from tests.embedded.api.calling import Server
from tests.kubectl import manifests

AGGREGATED: Final = {"accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_who_has_the_list_of_resources_is_told_that_it_is_the_same(path: str) -> None:
    server = Server()
    first = server.call("GET", path, headers=AGGREGATED)
    again = server.call("GET", path, headers={**AGGREGATED, "if-none-match": first.headers["etag"]})

    assert (first.code, first.headers["cache-control"], first.headers["vary"]) == (200, "public", "Accept")
    assert (again.code, again.body, again.headers["etag"]) == (304, b"", first.headers["etag"])


def test_another_kind_makes_another_list_and_leaves_other_documents_alone() -> None:
    server = Server()
    first = server.call("GET", "/apis", headers=AGGREGATED)
    apps = server.call("GET", "/openapi/v3").tree["paths"]["apis/apps/v1"]
    server.call("POST", CRDS, manifests.WIDGETS.encode(), {"content-type": "application/yaml"})

    again = server.call("GET", "/apis", headers={**AGGREGATED, "if-none-match": first.headers["etag"]})
    assert again.code == 200
    assert again.headers["etag"] != first.headers["etag"]
    index = server.call("GET", "/openapi/v3").tree["paths"]
    assert index["apis/apps/v1"] == apps
    assert "apis/example.com/v1" in index


def test_a_document_with_its_hash_may_be_kept_for_good() -> None:
    server = Server()
    url = server.call("GET", "/openapi/v3").tree["paths"]["apis/policy/v1"]["serverRelativeURL"]

    kept = server.call("GET", url)
    plain = server.call("GET", "/openapi/v3/apis/policy/v1")
    moved = server.call("GET", "/openapi/v3/apis/policy/v1?hash=ABC")
    assert (kept.code, kept.headers["cache-control"]) == (200, "public, immutable")
    assert (plain.code, plain.headers["cache-control"]) == (200, "no-cache, private")
    assert kept.headers["etag"] == plain.headers["etag"] == f'"{url.partition("=")[2]}"'
    assert (moved.code, moved.headers["location"]) == (301, url)
    assert server.call("GET", url, headers={"if-none-match": kept.headers["etag"]}).code == 304
    assert server.call("GET", "/openapi/v3/apis/absent.io/v1").code == 404


def test_the_elder_document_is_there_in_both_encodings_and_no_other() -> None:
    server = Server()
    protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"

    assert server.call("GET", "/openapi/v2", headers={}).tree["swagger"] == "2.0"
    packed = server.call("GET", "/openapi/v2", headers={"accept": protobuf})
    assert (packed.code, packed.headers["content-type"]) == (200, protobuf.replace("@v1", ".v1"))
    assert server.call("GET", "/openapi/v2", headers={"accept": "text/html"}).code == 406


def test_schemas_have_the_names_that_they_have_elsewhere() -> None:
    schemas = Server().call("GET", "/openapi/v3/apis/apps/v1").tree["components"]["schemas"]

    assert {"io.k8s.api.apps.v1.Deployment", "io.k8s.api.apps.v1.DeploymentList"} <= set(schemas)
    assert schemas["io.k8s.api.apps.v1.DeploymentList"]["x-kubernetes-group-version-kind"] == [
        {"group": "apps", "kind": "DeploymentList", "version": "v1"}
    ]
