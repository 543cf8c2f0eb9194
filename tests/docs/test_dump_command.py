"""The kubectl command that the pages give reads all that a plan looks at."""

import re
from pathlib import Path
from typing import Final

from baseload.kube.kinds import KINDS
from baseload.world.files import LOOKED_AT

ROOT = Path(__file__).parents[2]
SHORT: Final = {
    "pdb": "poddisruptionbudgets",
    "pvc": "persistentvolumeclaims",
    "pv": "persistentvolumes",
    "sc": "storageclasses",
}
COMMAND = re.compile(r"^    kubectl get (?P<kinds>\S+) -A -o json > cluster\.json$", re.MULTILINE)
FURTHER = re.compile(r"\(add (?P<kinds>.*) where you have them\)")


def test_the_command_and_what_may_be_added_to_it_are_what_a_plan_looks_at() -> None:
    pages = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/plan-provision.md")]
    commands = [found["kinds"] for page in pages if (found := COMMAND.search(page)) is not None]
    assert len(commands) == 2
    assert commands[0] == commands[1]
    further = FURTHER.search(pages[1])
    assert further is not None
    named = {SHORT.get(name, name.partition(".")[0]) for name in commands[0].split(",")}
    named |= set(re.findall(r"`([a-z]+)`", further["kinds"]))
    assert named == {kind.plural for kind in KINDS.values() if kind.reading in LOOKED_AT}
