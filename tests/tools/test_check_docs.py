"""Where the architecture page and the code drift apart, `make check` names the difference."""

import pytest

from tools import check_docs

PAGE = (check_docs.ROOT / check_docs.PAGE).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("written", "instead", "fault"),
    [
        ("| `plan provision` |", "| `plan provisions` |", "there is no command `plan provisions`"),
        ("`cli/version.py`", "`cli/main.py`", "`version` lives in cli/version.py, not in cli/main.py"),
        ("`decide.provision`", "`decide.provide`", "`plan provision`: there is no module `decide.provide`"),
        (
            "`plan.provision.ProvisionPlan`",
            "`plan.provision.Plan`",
            "`plan provision`: there is no plan value `plan.provision.Plan`",
        ),
        ("* `values`:", "* `value`:", "there is no package `value`"),
        ("* `values`:", "* values:", "the list lacks the package `values`"),
        ("| `version` |", "| version |", "the table lacks the command `version`"),
    ],
)
def test_a_difference_is_named(written: str, instead: str, fault: str) -> None:
    assert written in PAGE
    assert fault in list(check_docs.faults(PAGE.replace(written, instead)))
