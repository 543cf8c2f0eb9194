"""Each folder of examples is planned as examples/README.md says."""

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
