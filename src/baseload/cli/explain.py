"""`baseload explain`: the whole story of one object."""

from typing import TYPE_CHECKING, Final

import click

from baseload.cli.inputs import Flags, input_flags, input_flags_as_is, progress, read
from baseload.cli.moment import read_for_a_moment
from baseload.cli.output import OUTPUT, Printed, encoded

if TYPE_CHECKING:
    from baseload.journal.record import Entry

JOURNAL: Final = "--journal"


@click.command()
@click.argument("name", metavar="[NAMESPACE/]NAME")
@input_flags
@click.option(JOURNAL, type=click.Path(), metavar="FILE", help="Tell it from the journal of a run, not from manifests.")
@OUTPUT
def pod(name: str, flags: Flags, journal: str | None, output: str) -> Printed:
    """Where a pod goes and what else was open, or why it can go nowhere and what to change.

    The name of a pod that is made for a workload (web-x1) will do, and without a namespace it is default's. With a
    journal: where it went, what was decided about it, and what it waited for.
    """
    if journal is not None:
        return _pod_of_journal(name, flags, journal, output)
    from baseload.plan import encode
    from baseload.report import story as report
    from baseload.world import planning, story

    inputs = read(flags)
    wanted = story.find(inputs, name)
    with progress("planning"):
        told = story.story(inputs, planning.provision(inputs), wanted)
    if output == "table":
        return report.render(told, wide=flags.verbose)
    return encoded(encode.story_to_json(told), output)


@click.command()
@click.argument("name")
@input_flags_as_is
@click.option(JOURNAL, type=click.Path(), metavar="FILE", help="Tell it from the journal of a run, not from manifests.")
@OUTPUT
def node(name: str, flags: Flags, journal: str | None, output: str) -> Printed:
    """Why a node would be disrupted now or not: what blocks it, the nearest change that frees it, and what it costs.

    NAME is that of the Node or of its NodeClaim. With a journal: for which pods it was launched, who came to it, why it
    was disrupted or what blocked that, and how it ended; there its instance's name will do too.
    """
    if journal is not None:
        return _node_of_journal(name, flags, journal, output)
    from baseload.plan import encode_node_story as encode
    from baseload.report import node_story as report
    from baseload.world import planning

    inputs = read_for_a_moment(flags)
    with progress("planning"):
        told = planning.node_story(inputs, name)
    if output == "table":
        return report.render(told, wide=flags.verbose)
    return encoded(encode.to_json(told), output)


def _node_of_journal(name: str, flags: Flags, journal: str, output: str) -> Printed:
    from baseload.journal import lives, tell

    _alone(flags)
    entries = _entries(journal)
    life = lives.node(entries, name)
    if life is None:
        raise _unknown(name, "node", [entry.object for entry in entries if entry.event == "node.registered"], journal)
    if output == "table":
        return tell.node_text(life, entries[0].moment, wide=flags.verbose)
    return encoded(tell.node_json(life), output)


def _pod_of_journal(name: str, flags: Flags, journal: str, output: str) -> Printed:
    from baseload.journal import lives, tell

    _alone(flags)
    entries = _entries(journal)
    wanted = name if "/" in name else f"default/{name}"
    found = lives.pod(entries, wanted)
    if not found:
        raise _unknown(wanted, "pod", [entry.object for entry in entries if entry.event == "pod.created"], journal)
    if output == "table":
        return tell.pod_text(found, entries[0].moment, wide=flags.verbose)
    return encoded(tell.pod_json(wanted, found), output)


def _alone(flags: Flags) -> None:
    if flags.names or flags.context or flags.kubeconfig:
        raise click.UsageError("a journal is told by itself: leave out -f, --context and --kubeconfig")


def _entries(journal: str) -> "tuple[Entry, ...]":
    from baseload.journal.read import read as read_journal

    with progress("reading the journal"):
        return read_journal(journal)


def _unknown(name: str, what: str, objects: list[str], journal: str) -> Exception:
    from baseload.kube.kinds import most_similar
    from baseload.values.errors import BadInput, Fault

    names = list(dict.fromkeys(object.partition(" ")[2] for object in objects))
    near = most_similar(name, names)
    allowed = f"did you mean {near}?" if near else f"e.g. {names[0]}" if names else ""
    return BadInput([Fault(f"the journal tells of no {what} {name}", file=journal, allowed=allowed)])
