"""`baseload explain`: the whole story of one object."""

import click

from baseload.cli.inputs import Flags, input_flags, progress, read
from baseload.cli.output import OUTPUT, Printed, encoded


@click.command()
@click.argument("name", metavar="[NAMESPACE/]NAME")
@input_flags
@OUTPUT
def pod(name: str, flags: Flags, output: str) -> Printed:
    """Where a pod goes and what else was open, or why it can go nowhere and what to change.

    The name of a pod that is made for a workload (web-x1) will do, and without a namespace it is default's.
    """
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
