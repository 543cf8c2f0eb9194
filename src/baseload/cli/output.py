"""What commands print: the flag that chooses the form, and the forms for programs."""

from collections.abc import Mapping
from typing import Final

import click

Printed = str | bytes | bytearray
"""a command's whole output; bytes of a large plan need not become text first"""

OUTPUT: Final = click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json", "yaml"]),
    default="table",
    show_default=True,
    help="What to print: a table for people, or the same for programs as JSON or YAML.",
)


def encoded(tree: Mapping[str, object], output: str) -> Printed:
    """An object of ours as JSON or YAML."""
    if output == "json":
        from baseload.cli import json_writer

        return json_writer.write(tree)
    from baseload.cli import yaml_writer

    return yaml_writer.write(tree)
