"""What the terms of an EC2NodeClass find in the simulated account."""

from typing import Any

import pytest

from baseload.cloud.errors import InvalidLaunch, NotFound
from baseload.cloud.simulated.account import ALIASES
from baseload.cloud.simulated.settings import Release
from baseload.kube.types.ec2 import AMISelectorTerm, SecurityGroupSelectorTerm, SubnetSelectorTerm
from baseload.values.duration import HOUR
from tests.cloud.simulated.clouds import START, ZONES, Run

DISCOVERY = {"karpenter.sh/discovery": "my-cluster"}
OWN: dict[str, Any] = {
    "subnets": [
        {"id": "subnet-a", "zone": "z1", "tags": DISCOVERY},
        {"id": "subnet-b", "zone": "z2", "tags": {"karpenter.sh/discovery": "other"}},
        {"id": "subnet-c", "zone": "z3"},
    ],
    "securityGroups": [{"id": "sg-a", "name": "nodes", "tags": DISCOVERY}, {"id": "sg-b", "name": "pods"}],
    "images": [
        {"id": "ami-a", "name": "golden", "created": "1h", "tags": {"team": "x"}},
        {"id": "ami-b", "name": "golden", "created": "2h", "architecture": "arm64"},
    ],
    "roles": ["NodeRole"],
}


def test_by_default_every_selector_and_role_resolves() -> None:
    run = Run()
    subnets = run.ask(run.cloud.subnets([SubnetSelectorTerm(tags=DISCOVERY)]))
    groups = run.ask(run.cloud.security_groups([SecurityGroupSelectorTerm(name="whatever")]))

    assert [subnet.zone for subnet in subnets] == list(ZONES)
    assert [subnet.free_addresses for subnet in subnets] == [8187] * 3
    assert [group.name for group in groups] == ["nodes"]
    assert run.ask(run.cloud.instance_profile("AnyRole")) == "AnyRole-profile"
    for term in (AMISelectorTerm(name="mine-*"), AMISelectorTerm(tags={"a": "b"}), AMISelectorTerm(ssm_parameter="/x")):
        images = run.ask(run.cloud.images([term]))
        assert sorted(image.architecture for image in images) == ["amd64", "arm64"]
    assert [image.id for image in run.ask(run.cloud.images([AMISelectorTerm(id="ami-1")]))] == ["ami-1"]


@pytest.mark.parametrize("family", ALIASES)
def test_every_alias_resolves_to_the_same_images_in_every_run(family: str) -> None:
    term = AMISelectorTerm(alias=f"{family}@latest")
    run, other = Run(seed=1), Run(seed=2)
    images = run.ask(run.cloud.images([term]))

    assert images == other.ask(other.cloud.images([term]))
    assert len({image.id for image in images}) == len(images) == (1 if family.startswith("windows") else 5)
    assert images[0].id.startswith("ami-0")


def test_an_alias_of_no_family_is_refused_with_those_there_are() -> None:
    run = Run()
    with pytest.raises(InvalidLaunch, match="The alias ubuntu@latest is of no known family: one of al2, al2023"):
        run.ask(run.cloud.images([AMISelectorTerm(alias="ubuntu@latest")]))


def test_latest_becomes_another_image_at_a_release_and_a_pinned_version_stays() -> None:
    run = Run(releases=[{"family": "al2023", "version": "v20261201", "at": "24h"}])
    latest, pinned = AMISelectorTerm(alias="al2023@latest"), AMISelectorTerm(alias="al2023@v20261101")
    before, stays = run.ask(run.cloud.images([latest])), run.ask(run.cloud.images([pinned]))
    run.until(24 * 3600)
    after = run.ask(run.cloud.images([latest]))

    assert before == stays == run.ask(run.cloud.images([pinned]))
    assert {image.id for image in before}.isdisjoint(image.id for image in after)
    assert {image.created for image in after} == {START + 24 * HOUR}
    assert run.ask(run.cloud.images([pinned, latest]))[:5] == after
    run.cloud.region.selecting.release(Release("al2023", "v20261215", 25 * HOUR))
    run.until(25 * 3600)
    assert "v20261215" in run.ask(run.cloud.images([latest]))[0].name


def test_of_what_is_declared_terms_find_what_they_say() -> None:
    run = Run(**OWN)

    def subnets(*terms: SubnetSelectorTerm) -> list[str]:
        return [subnet.id for subnet in run.ask(run.cloud.subnets(terms))]

    assert subnets(SubnetSelectorTerm(tags=DISCOVERY)) == ["subnet-a"]
    assert subnets(SubnetSelectorTerm(tags={"karpenter.sh/discovery": "*"})) == ["subnet-a", "subnet-b"]
    assert subnets(SubnetSelectorTerm(id="subnet-c"), SubnetSelectorTerm(tags=DISCOVERY)) == ["subnet-a", "subnet-c"]
    assert subnets(SubnetSelectorTerm(tags={"none": "*"})) == []
    groups = run.ask(run.cloud.security_groups([SecurityGroupSelectorTerm(name="pods")]))
    assert [group.id for group in groups] == ["sg-b"]
    assert [image.id for image in run.ask(run.cloud.images([AMISelectorTerm(name="golden")]))] == ["ami-b", "ami-a"]
    assert [image.id for image in run.ask(run.cloud.images([AMISelectorTerm(tags={"team": "x"})]))] == ["ami-a"]
    assert run.ask(run.cloud.instance_profile("NodeRole")) == "NodeRole-profile"
    with pytest.raises(NotFound, match=r"The role with name Typo cannot be found\.") as caught:
        run.ask(run.cloud.instance_profile("Typo"))
    assert caught.value.code == "NoSuchEntity"


def test_no_terms_find_nothing() -> None:
    run = Run()
    assert run.ask(run.cloud.subnets([])) == ()
    assert run.ask(run.cloud.security_groups([])) == ()
    assert run.ask(run.cloud.images([])) == ()


def test_the_addresses_of_a_subnet_are_counted_and_not_used_again_at_once() -> None:
    own = [{"id": "subnet-a", "zone": "z1", "addresses": 6}]
    run = Run(subnets=own, addressesAnInstance=2, terminating="1s")
    terms = [SubnetSelectorTerm(id="subnet-a")]
    request = run.fleet("m5.large", zones=("z1",))
    first = run.ask(run.cloud.launch(request)).instance
    assert run.ask(run.cloud.subnets(terms))[0].free_addresses == 4
    run.ask(run.cloud.terminate(first.id))
    run.until(5)
    assert run.ask(run.cloud.subnets(terms))[0].free_addresses == 6
    assert [run.ask(run.cloud.launch(request)).instance.private_address for _ in range(3)] == [
        "10.0.0.5",
        "10.0.0.6",
        "10.0.0.7",
    ]
    assert first.private_address == "10.0.0.4"
