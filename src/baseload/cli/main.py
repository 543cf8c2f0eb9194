"""The command `baseload`: its table of commands, and the one place where outcomes become output and exit statuses.

A command computes everything first and returns its whole output; only then is it written, so that a fault
found half-way leaves nothing on stdout. What goes wrong is raised, and mapped to an exit status here and nowhere else:

    0    done
    1    a check or an expectation failed (a command raises click.exceptions.Exit(1))
    2    bad input or usage: one line a fault on stderr
    3    a cluster or a cloud did not answer
    130  interrupted

A reader that closes the pipe early (`baseload … | head`) has what it wanted: that is status 0.
"""

import io
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout

import click

import baseload
from baseload.cli import stderr
from baseload.cli.lazy import Entry, LazyGroup
from baseload.cli.output import Printed
from baseload.values.errors import BadInput, Unreachable

MOST_FAULTS = 100  # that are told; nobody reads more of them, and a generated file may have any number
DONE, BAD_INPUT, UNREACHABLE, INTERRUPTED = 0, 2, 3, 130
COMPLETE = "_BASELOAD_COMPLETE"  # set by the completion scripts of `baseload completion`

PLAN = LazyGroup(
    "plan",
    {
        "provision": Entry(
            "baseload.cli.plan:provision", "Which nodes would be launched for the pods that are pending."
        ),
        "disrupt": Entry("baseload.cli.plan:disrupt", "Which nodes would be given up, and what keeps the others."),
    },
    help="Decide once, on manifests or a live cluster; change nothing.",
)
EXPLAIN = LazyGroup(
    "explain",
    {
        "pod": Entry("baseload.cli.explain:pod", "Where a pod goes, or why it can go nowhere."),
        "node": Entry("baseload.cli.explain:node", "Why a node is disrupted or stays, and what would free it."),
    },
    help="Tell the whole story of one object.",
)
CATALOG = LazyGroup(
    "catalog",
    {
        "list": Entry("baseload.cli.catalog:list_", "List instance types by requirement, region and price."),
        "show": Entry("baseload.cli.catalog:show", "Show all that is known of one instance type."),
        "compare": Entry("baseload.cli.catalog:compare", "Set instance types side by side."),
        "refresh": Entry("baseload.cli.catalog:refresh", "Read types and prices from AWS into the user's cache."),
    },
    help="What can be launched, and what it costs.",
)
BASELOAD = LazyGroup(
    "baseload",
    {
        "plan": PLAN,
        "explain": EXPLAIN,
        "catalog": CATALOG,
        "up": Entry("baseload.cli.up:up", "Run a cluster on this machine, with nodes that come and go."),
        "replay": Entry("baseload.cli.replay:replay", "Live through a scenario on a virtual clock, and judge it."),
        "top": Entry("baseload.cli.top:top", "Show the nodes of a cluster: price, fill, age and state, live."),
        "serve": Entry("baseload.cli.serve:serve", "Serve a Kubernetes API on this machine, for kubectl and clients."),
        "completion": Entry("baseload.cli.completion:completion", "Print the completion script of a shell."),
        "version": Entry("baseload.cli.version:version", "Print the version."),
    },
    help="The node layer of a Kubernetes platform: which nodes, at what price, and why not.",
    epilog="Exit status: 0 done, 1 a check failed, 2 bad input or usage, 3 cluster or cloud unreachable, 130 Ctrl-C.",
)
click.version_option(baseload.__version__, prog_name="baseload", message="%(prog)s %(version)s")(BASELOAD)


def main(arguments: Sequence[str] | None = None, *, group: LazyGroup = BASELOAD) -> int:
    """Run a command line (by default the process's own) and return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # the same bytes under every locale
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        return run(group, list(sys.argv[1:] if arguments is None else arguments))
    except BadInput as error:
        for fault in error.faults[:MOST_FAULTS]:
            stderr.say(str(fault))
            for line in fault.mend:
                stderr.say(f"    {line}")
        if (left := len(error.faults) - MOST_FAULTS) > 0:
            stderr.say(f"and {left} more")
        return BAD_INPUT
    except Unreachable as error:
        stderr.say(f"baseload: {error}")
        return UNREACHABLE
    except click.ClickException as error:
        with stderr.unheard():
            error.show()
        return BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        stderr.say("baseload: interrupted")
        return INTERRUPTED


def run(group: LazyGroup, arguments: list[str]) -> int:
    """Run a command and write its output; what is bad about its input is raised.

    What click itself prints (help, the version, completions) is kept back as well, so that all output is written, and
    can fail to be, in one place.
    """
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    status, output = DONE, None
    with redirect_stdout(printed):
        try:
            if instruction := os.environ.get(COMPLETE):
                status = _complete(group, instruction)
            else:
                with group.make_context("baseload", arguments) as context:
                    output = group.invoke(context)
        except click.exceptions.Exit as exit:
            status = exit.exit_code
    try:
        for part in (printed.buffer.getvalue(), output):
            if part:
                write(part)
    except BrokenPipeError:
        stderr.give_up(sys.stdout)
    return status


def _complete(group: LazyGroup, instruction: str) -> int:
    from click.shell_completion import shell_complete

    try:
        return shell_complete(group, {}, "baseload", COMPLETE, instruction)
    except (KeyError, ValueError) as error:
        raise click.ClickException(f"{COMPLETE} is for the scripts of `baseload completion`") from error


def write(output: Printed) -> None:
    """Bytes go out as they are, and whole: a large plan need not become text first."""
    if sys.stdout is None:
        raise click.ClickException("the output cannot be written: stdout is closed")
    whole = output.endswith("\n") if isinstance(output, str) else output.endswith(b"\n")
    try:
        click.echo(output, nl=not whole)
    except BrokenPipeError:
        raise
    except OSError as error:
        stderr.give_up(sys.stdout)
        raise click.ClickException(f"the output cannot be written: {error.strerror}") from error
