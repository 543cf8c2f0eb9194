"""Disruption that goes in circles is named in the report of a run, and a calm run names none."""

from tests.scenarios.living import lived


def test_nodes_that_nobody_can_use_are_launched_and_deleted_in_turns_and_the_report_says_so() -> None:
    life = lived("c_taint-that-stays")
    [note] = [note for note in life.report.notes if note.startswith("loop: ")]

    assert "launched for 6 pods of default/Deployment/web and deleted as empty" in note
    assert note.endswith("(LaunchedUnused)")
    assert life.told("disruption.repeated", object="LaunchedUnused")
    assert life.told("event.told", reason="DisruptionRepeated")


def test_a_run_without_circles_has_no_such_note() -> None:
    assert not [note for note in lived("a_startup-taint-declared").report.notes if note.startswith("loop: ")]
