"""Writes the reference pages whose source is the code: docs/reference/reasons.md.

Run as a script it writes them; `make check` compares them with what it would write.
"""

from pathlib import Path

from baseload.plan.disrupt import KEPT_MEANING, LOOP_MEANING, Kept, LoopKind
from baseload.plan.reason import MEANING, Reason

ROOT = Path(__file__).parents[1]


def reasons() -> str:
    lines = [
        "# Reasons",
        "",
        "Every pod without a place and every target that does not take it has one of these as `reason`.",
        "The list is closed; a new one is a new line in the changelog.",
        "",
        "| reason | meaning |",
        "|---|---|",
        *(f"| `{reason}` | {MEANING[reason]} |" for reason in Reason),
        "",
        "Every node that `baseload plan disrupt` keeps has one of these as `reason`.",
        "",
        "| reason | meaning |",
        "|---|---|",
        *(f"| `{kept}` | {KEPT_MEANING[kept]} |" for kept in Kept),
        "",
        "## Circles that disruption can go in",
        "",
        "What `repeated` of a DisruptPlan tells, reports of replays and the events of the controllers.",
        "",
        "| kind | meaning |",
        "|---|---|",
        *(f"| `{kind}` | {LOOP_MEANING[kind]} |" for kind in LoopKind),
    ]
    return "\n".join(lines) + "\n"


def outputs() -> dict[str, bytes]:
    """File name relative to the project's root -> content."""
    return {"docs/reference/reasons.md": reasons().encode()}


def main() -> None:
    for name, content in outputs().items():
        file = ROOT / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


if __name__ == "__main__":
    main()
