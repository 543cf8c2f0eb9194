"""kubectl explain and cluster-info: what a user reads of the API itself."""

import pytest

from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl
from tests.kubectl.recorded import Recorded

KINDS = ("customresourcedefinition", "deployment", "horizontalpodautoscaler", "networkpolicy", "node", "nodepool")


@pytest.mark.parametrize("kind", KINDS)
def test_the_fields_of_a_kind_are_those_of_a_real_server(kubectl: Kubectl, recorded: Recorded, kind: str) -> None:
    told = kubectl("explain", kind, "--recursive")

    recorded(f"explain/{kind}.txt", told.partition("FIELDS:\n")[2])


@pytest.mark.both_kubectls
def test_a_field_is_explained_by_its_path(kubectl: Kubectl) -> None:
    told = kubectl("explain", "deploy.spec.template.spec.containers.image")

    lines = told.splitlines()
    assert lines[:5] == ["GROUP:      apps", "KIND:       Deployment", "VERSION:    v1", "", "FIELD: image <string>"]
    assert 'field "nonsense" does not exist' in kubectl.refused("explain", "pod.spec.nonsense")
    assert "VERSION:    v1" in kubectl("explain", "hpa", "--api-version=autoscaling/v1")


@pytest.mark.embedded_only("the words are our own")
@pytest.mark.both_kubectls
def test_kinds_and_fields_are_explained_in_short_words(kubectl: Kubectl) -> None:
    told = kubectl("explain", "deployment.spec").split("DESCRIPTION:\n")[1]

    assert told.startswith("    How many pods there should be, and how they are replaced.\n")
    field = "  replicas\t<integer>\n    How many pods there should be. 1 unless told otherwise.\n"
    assert field in told
    assert "<no description>" not in told


@pytest.mark.embedded_only("the words are our own")
def test_custom_kinds_are_explained_down_to_the_items_of_lists(kubectl: Kubectl) -> None:
    told = kubectl("explain", "nodepool.spec.disruption.budgets")

    assert "DESCRIPTION:\n    How many nodes may go at once; the strictest that holds counts.\n" in told
    assert "  schedule\t<string>\n    When the budget holds, in cron's five fields. Always unless told" in told


@pytest.mark.embedded_only("the words are our own")
@pytest.mark.parametrize("kind", ["pod", "nodeclaim", "ec2nodeclass", "priorityclass", "networkpolicy", "hpa"])
def test_every_field_at_the_top_of_a_kind_has_words(kubectl: Kubectl, kind: str) -> None:
    assert "<no description>" not in kubectl("explain", kind)


@pytest.mark.both_kubectls
def test_the_cluster_says_where_it_is(kubectl: Kubectl) -> None:
    told = kubectl("cluster-info")

    assert told.startswith(f"Kubernetes control plane is running at {kubectl.server.address}\n")


@pytest.mark.both_kubectls
def test_a_diff_of_several_kinds_names_each(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=f"{manifests.DEPLOYMENT}---{manifests.NODE_POOL}")
    changed = f"{manifests.DEPLOYMENT}---{manifests.NODE_POOL}".replace("replicas: 3", "replicas: 5")

    outcome = kubectl.run("diff", "--server-side", "-f", "-", stdin=changed.replace("weight: 10", "weight: 11"))

    assert outcome.code in (0, 1)
    assert "+  replicas: 5\n" in outcome.out
    assert "+  weight: 11\n" in outcome.out
