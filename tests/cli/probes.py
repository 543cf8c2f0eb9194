"""Commands that end in every way a command can end."""

import threading

import click

from baseload.cli.lazy import Entry, LazyGroup
from baseload.values.errors import BadInput, Fault, Unreachable


@click.command()
def fine() -> str:
    return "café ▶ 1\n"


@click.command()
def failed() -> str:
    raise click.exceptions.Exit(1)


@click.command()
def bad() -> str:
    raise BadInput([Fault("is no number", file="a.yaml", path="spec.weight"), Fault("cannot be read:\n  line 3")])


@click.command()
def unreachable() -> str:
    raise Unreachable("ec2.eu-west-1: no answer")


@click.command()
def interrupted() -> str:
    raise KeyboardInterrupt


@click.command()
def slow() -> None:
    click.echo("started", err=True)
    threading.Event().wait(30)


NAMES = ("fine", "failed", "bad", "unreachable", "interrupted", "slow", "absent")
PROBES = LazyGroup("baseload", {name: Entry(f"{__name__}:{name}", f"Probe {name}.") for name in NAMES}, help="Probes.")
