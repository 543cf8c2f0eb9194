"""Writes docs/reference/scenarios.md: all that may stand in a scenario, from the tables by which it is read.

Run as a script it writes the page; `make check` compares it with what it would write.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from baseload.replay import controllers, expecting, happenings
from baseload.replay.fields import Field
from baseload.replay.series import CHOICES, KINDS

ROOT = Path(__file__).parents[1]
PAGE = "docs/reference/scenarios.md"


def table(fields: Mapping[str, Field]) -> Iterator[str]:
    yield "| field | | |"
    yield "|---|---|---|"
    for name, field in fields.items():
        what = str(field.form.allowed).replace("|", "\\|").replace("{", "\\{").replace("}", "\\}")
        about = f"{field.about} (required)" if field.is_required else field.about
        yield f"| `{name}` | {about} | {what} |"
    yield ""


def events() -> Iterator[str]:
    yield "## Events"
    yield ""
    yield "Of every event:"
    yield ""
    yield from table(happenings.MOMENTS)
    for do, (what, fields) in happenings.KINDS.items():
        yield f"### {do}"
        yield ""
        yield f"It {what}."
        yield ""
        yield from table(fields)


def series() -> Iterator[str]:
    yield "## Series"
    yield ""
    yield "| series | counts | narrowed down by |"
    yield "|---|---|---|"
    for name, kind in KINDS.items():
        unit = f", in {kind.unit}" if kind.unit else ""
        filters = ", ".join(f"`{one}`" for one in kind.filters)
        yield f"| `{name}` | {kind.about}{unit} | {filters} |"
    yield ""
    for name, causes in CHOICES.items():
        yield f"The causes of `{name}`: {', '.join(f'`{cause}`' for cause in causes)}."
    yield ""


def expectations() -> Iterator[str]:
    yield "## Expectations"
    yield ""
    yield from table(expecting.TABLE)


def options() -> Iterator[str]:
    yield "## Options of controllers"
    yield ""
    for name, fields in (
        ("karpenter", controllers.KARPENTER),
        ("scheduler", controllers.SCHEDULER),
        ("kubelet", controllers.KUBELET),
        ("node-lifecycle", controllers.LIFECYCLE),
        ("cni", controllers.CNI),
    ):
        yield f"### {name}: {controllers.NAMES[name]}"
        yield ""
        if name == "karpenter":
            yield "Those of the file that `baseload plan --options` takes, and:"
            yield ""
        yield from table(fields)


def page() -> str:
    lines = ["# Scenarios: events, series, expectations, options", ""]
    lines += ["What is written where is told in [replay](../replay.md).", ""]
    lines += [*events(), *series(), *expectations(), *options()]
    return "\n".join(lines).rstrip() + "\n"


def outputs() -> dict[str, bytes]:
    """File name relative to the project's root -> content."""
    return {PAGE: page().encode()}


def main() -> None:
    for name, content in outputs().items():
        (ROOT / name).write_bytes(content)


if __name__ == "__main__":
    main()
