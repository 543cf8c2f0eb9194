"""`baseload plan`: decisions on manifests or a live cluster, made once; nothing is changed."""

from typing import get_args

import click

from baseload.cli.inputs import Flags, input_flags, input_flags_as_is, progress, read
from baseload.cli.moment import read_for_a_moment
from baseload.cli.output import OUTPUT, Printed, encoded
from baseload.plan.disrupt import Mode


@click.command()
@input_flags
@OUTPUT
def provision(flags: Flags, output: str) -> Printed:
    """Which nodes would be launched for the pods that are pending, at what price, and why a pod can go nowhere.

    Decides as Karpenter does, on files or on a live cluster that is only read. Pods that fit on nodes of the input go
    there; for the others the NodePools of the input launch nodes.
    """
    from baseload.plan import encode
    from baseload.report import provision as report
    from baseload.world import planning

    inputs = read(flags)
    with progress("planning"):
        plan = planning.explained(inputs)
    if output == "table":
        return report.render(plan, wide=flags.verbose)
    if output == "json":
        from baseload.cli import json_writer

        return json_writer.write(encode.to_json(plan, shared=json_writer.fragment))
    return encoded(encode.to_json(plan), output)


@click.command()
@input_flags_as_is
@click.option(
    "--until-stable", is_flag=True, help="Pass upon pass, each carried out, until nothing is left to do; and the end."
)
@click.option(
    "--mode",
    type=click.Choice(get_args(Mode)),
    default="compatible",
    show_default=True,
    help="As Karpenter decides; optimal: any set of nodes that saves more, under the same rules; or both, compared.",
)
@OUTPUT
def disrupt(flags: Flags, until_stable: bool, mode: Mode, output: str) -> Printed:
    """Which nodes would be given up now, by which method, what replaces them, and what keeps the others.

    One pass as Karpenter's disruption makes it: the first method that finds anything ends it. Without `now` among the
    options it is made for this moment.
    """
    from baseload.plan import encode_disrupt as encode
    from baseload.report import disrupt as report
    from baseload.world import planning

    inputs = read_for_a_moment(flags)
    if mode != "compatible":
        plan_both = planning.disrupted_until_stable_in_both_modes if until_stable else planning.disrupted_in_both_modes
        with progress("planning"):
            compared = plan_both(inputs)
        if output == "table":
            return report.render_compared(compared, mode, wide=flags.verbose)
        return encoded(encode.compared_to_json(compared, mode), output)
    if until_stable:
        with progress("planning"):
            passes = planning.disrupted_until_stable(inputs)
        if output == "table":
            return report.render_passes(passes, wide=flags.verbose)
        return encoded(encode.passes_to_json(passes), output)
    with progress("planning"):
        plan = planning.disrupted(inputs)
    if output == "table":
        return report.render(plan, wide=flags.verbose)
    return encoded(encode.to_json(plan), output)
