"""`baseload plan`: decisions on manifests or a live cluster, made once; nothing is changed."""

import click

from baseload.cli.inputs import Flags, input_flags, input_flags_as_is, progress, read
from baseload.cli.moment import read_for_a_moment
from baseload.cli.output import OUTPUT, Printed, encoded


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
@OUTPUT
def disrupt(flags: Flags, until_stable: bool, output: str) -> Printed:
    """Which nodes would be given up now, by which method, what replaces them, and what keeps the others.

    One pass as Karpenter's disruption makes it: the first method that finds anything ends it. Without `now` among the
    options it is made for this moment.
    """
    from baseload.plan import encode_disrupt as encode
    from baseload.report import disrupt as report
    from baseload.world import planning

    inputs = read_for_a_moment(flags)
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
