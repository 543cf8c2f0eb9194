"""The flags by which commands take their input, and the reading of it.

Notes go to stderr as soon as the input is read, so stdout holds the plan alone. While something long goes on, a line on
the terminal says what; it is gone in the end, and a stderr that is no terminal never sees it.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click

from baseload.cli import contexts, stderr

if TYPE_CHECKING:
    from baseload.kube.schema.check import Validate
    from baseload.world.files import Expand, Inputs
    from baseload.world.live import Live

F = TypeVar("F", bound=Callable[..., object])
_CURRENT: Final = "\0"  # which nobody can type


def _named(
    _: click.Context, flag: click.Parameter, given: str | tuple[str, ...] | None
) -> str | tuple[str, ...] | None:
    """A flag's value that is not empty: an empty one is mostly a shell variable that is not set."""
    if given == "" or (isinstance(given, tuple) and "" in given):
        raise click.BadParameter("is empty")
    return given


_FLAGS: Final = (
    click.option(
        "-f",
        "--filename",
        "names",
        type=click.Path(allow_dash=True),
        callback=_named,
        multiple=True,
        metavar="FILE|DIR|-",
        help="Manifests in YAML or JSON: a file, a folder with all below it, or - for standard input. Repeatable.",
    ),
    click.option(
        "--context",
        metavar="[CONTEXT]",
        callback=_named,
        is_flag=False,
        flag_value=_CURRENT,
        shell_complete=contexts.complete,
        help="Read the cluster of this kubeconfig context instead of files, or beneath them: what -f names is added, "
        "or takes the place of what the cluster has. Nothing is written to it. Without a name it is the current "
        "context; in a pod that has no kubeconfig, the cluster of its service account.",
    ),
    click.option(
        "--kubeconfig",
        type=click.Path(),
        callback=_named,
        metavar="FILE",
        help="The kubeconfig to find the cluster in; by default $KUBECONFIG, else ~/.kube/config.",
    ),
    click.option(
        "--catalog",
        type=click.Path(),
        callback=_named,
        metavar="FILE",
        help="Instance types in KWOK's file format, in place of the built-in EC2 catalogue.",
    ),
    click.option(
        "--region",
        metavar="REGION",
        callback=_named,
        help="The EC2 region; by default that of the zones in the input.",
    ),
    click.option(
        "--options",
        "options_file",
        type=click.Path(),
        callback=_named,
        metavar="FILE",
        help="Controller settings as a YAML map, e.g. preferencePolicy: Ignore.",
    ),
    click.option(
        "--validate",
        type=click.Choice(["auto", "strict", "warn", "ignore"]),
        default="auto",
        show_default=True,
        help="What unknown and mistyped fields are: strict: bad input; warn: warnings. auto: strict for objects that "
        "are written by hand, warn for objects out of a cluster.",
    ),
    click.option("-v", "--verbose", is_flag=True, help="Leave nothing out, and name the kinds that are passed over."),
)
_EXPAND: Final = "Whether Deployments, StatefulSets, ReplicaSets and Jobs get the pods that they lack."
_BEFORE_EXPAND: Final = 6  # flags of the above that help lists before --expand


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags of the input as they were given."""

    names: tuple[str, ...]
    context: str | None
    kubeconfig: str | None
    catalog: str | None
    region: str | None
    options_file: str | None
    expand: str
    validate: str
    verbose: bool


def input_flags(command: F) -> F:
    """Gives a command the flags of its input; it gets them as `flags`."""
    return _with_flags(command, "auto")


def input_flags_as_is(command: F) -> F:
    """The same for a command that takes the pods of the input as they are, unless it is asked for more."""
    return _with_flags(command, "never")


def _with_flags(command: F, expand: str) -> F:
    @wraps(command)
    def with_flags(*arguments: Any, **given: Any) -> object:
        flags = Flags(**{name: given.pop(name) for name in Flags.__slots__})
        return command(*arguments, flags=flags, **given)

    choice = click.Choice(["auto", "never"])
    expands = click.option("--expand", type=choice, default=expand, show_default=True, help=_EXPAND)
    decorated: Callable[..., object] = with_flags
    for flag in reversed((*_FLAGS[:_BEFORE_EXPAND], expands, *_FLAGS[_BEFORE_EXPAND:])):
        decorated = flag(decorated)
    return cast(F, decorated)


def read(flags: Flags) -> "Inputs":
    """What the flags name; what the user should know about it goes to stderr."""
    from baseload.world import files

    if not (flags.names or flags.context or flags.kubeconfig):
        raise click.UsageError("name manifests by -f, or a cluster by --context")
    live = _live(flags)
    with progress("reading the input"):
        inputs = files.read(
            flags.names,
            live=live,
            stdin=_stdin,
            catalog=flags.catalog,
            region=flags.region,
            options_file=flags.options_file,
            expand=cast("Expand", flags.expand),
            validate=cast("Validate", flags.validate),
        )
    for note in inputs.notes:
        stderr.say(note)
    if flags.verbose and inputs.passed_over:
        stderr.say(f"not looked at: {', '.join(inputs.passed_over)}")
    if flags.verbose and live and live.absent:
        stderr.say(f"not in the cluster: {', '.join(live.absent)}")
    return inputs


def _live(flags: Flags) -> "Live | None":
    """What the cluster holds, where one is named."""
    if not (flags.context or flags.kubeconfig):
        return None
    from baseload.world import files, live

    with progress("reading the cluster"):
        context = None if flags.context == _CURRENT else flags.context
        return live.read(files.LOOKED_AT, context, flags.kubeconfig, going_on)


def _stdin() -> bytes:
    if sys.stdin is None:
        raise OSError("it is closed")
    return sys.stdin.buffer.read()


@contextmanager
def progress(what: str) -> Iterator[None]:
    """A line on the terminal while something goes on."""
    if not stderr.is_terminal():
        yield
        return
    going_on(what)
    try:
        yield
    finally:
        stderr.show("")


def going_on(what: str) -> None:
    """Other words for what goes on, in the same line."""
    if stderr.is_terminal():
        stderr.show(f"{what} …")
