"""Each folder of examples is planned as examples/README.md says."""

import re
from pathlib import Path

import pytest

from baseload.cli.main import main
from tests.conftest import Golden

EXAMPLES = Path(__file__).parents[2] / "examples"
GOLDEN = Path(__file__).with_name("golden")
HUB, BARE, MORE = "platform/hub", "platform/hub-no-max-pods", "platform/one-more-pod.yaml"

CASES = {
    "exercise": (["exercise"], ["c5.2xlarge", "~$0.1496", "cpu 7500m of 7910m", "m5.2xlarge ~$0.1766"]),
    "hub": ([HUB], ["r6g.medium", "on-demand", "$0.0504", "memory 6348Mi of 7075Mi", "t4g.large $0.0672"]),
    "hub-no-max-pods": ([BARE], ["r6g.medium", "100 %", "pods 8 of 8"]),
    "hub-one-more": ([HUB, MORE], ["r6g.medium", "$0.0504"]),
    "hub-no-max-pods-one-more": ([BARE, MORE], ["t4g.large", "$0.0672"]),
    "preprod": (["platform/preprod"], ["r6g.medium", "spot", "~$0.0156", "orders/web-x1, orders/web-x2"]),
    "slab-honest": (["platform/slab-honest"], ["r6g.medium", "$0.0504"]),
    "slab-low": (
        ["platform/slab-low"],
        ["t4g.medium", "$0.0336", "daemons request 616Mi", "use 3276Mi", "hold 4812Mi of its 3187Mi"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_an_example_is_planned_as_its_page_says(
    case: str, golden: Golden, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # the figures of the package, whatever was refreshed here
    names, said = CASES[case]
    flags = [flag for name in names for flag in ("-f", str(EXAMPLES / name))]

    assert main(["plan", "provision", *flags]) == 0
    out = capsys.readouterr().out
    assert [text for text in said if text not in out] == []
    assert out.startswith("1 node to launch")
    golden(GOLDEN / f"example-{case}.txt", out)


def test_the_pool_of_many_tutorials_is_refused_with_the_lines_that_mend_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "provision", "-f", str(EXAMPLES / "exercise-broken")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    first, *mending = err.splitlines()
    assert first.endswith("document 1: NodePool default: spec.template.spec.nodeClassRef: Required value")
    assert mending == [
        "    add under spec.template.spec:",
        "          nodeClassRef:",
        "            group: karpenter.k8s.aws",
        "            kind: EC2NodeClass",
        "            name: default",
    ]


def test_no_daemons_gap_is_named_where_requests_are_honest(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "provision", "-f", str(EXAMPLES / "platform/slab-honest")])

    assert "daemons request" not in capsys.readouterr().out


def test_make_demo_ends_with_the_exercise_lived_through(capsys: pytest.CaptureFixture[str]) -> None:
    makefile = (EXAMPLES.parent / "Makefile").read_text(encoding="utf-8")
    lived = re.search(r"^LIVED := examples/(\S+)$", makefile, re.MULTILINE)
    assert lived is not None
    assert main(["replay", "--timeline", "--check", str(EXAMPLES / lived[1])]) == 0
    out = capsys.readouterr().out
    story = [
        r"> apply manifests \S+nodepool.yaml",
        r"5 pods of Deployment inflate wait for a node: 0/2 nodes are available: 2 Insufficient cpu",
        r"planned 1 NodeClaim for 5 pods: [mc]5\S* spot in us-east-1\w at \$0",
        r"NodeClaim default-\w{5} launched: [mc]5",
        r"NodeClaim default-\w{5} registered",
        r"5 pods of Deployment inflate ready",
        r"> scale workload inflate, replicas 400",
        r"no node is launched for \d+ pods of Deployment inflate: NodePool default: .* limits",
        r"\d+ Nodes Ready",
        r"\d+ pods of Deployment inflate ready",
    ]
    assert re.search(".*\n(?:.*\n)*?.*".join(story), out), out
    assert out.count("\nholds  ") == 5


def test_an_expectation_of_the_exercise_that_fails_fails_the_demo(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (EXAMPLES / "scenarios/exercise.yaml").read_text(encoding="utf-8")
    smaller = tmp_path / "smaller.yaml"
    changed = text.replace("../exercise", str(EXAMPLES / "exercise")).replace("atMost: 500", "atMost: 4")
    changed = changed.replace("atLeast: 480", "atLeast: 1")
    smaller.write_text(changed, encoding="utf-8")
    assert main(["replay", "--timeline", "--check", str(smaller), "--until", "2m"]) == 1
    assert "FAILS  nodes.cpu(nodePool default) is at most 4" in capsys.readouterr().out
