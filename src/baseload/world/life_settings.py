"""The settings of a cluster that lives, as files give them: controllers' options and the cloud's behaviour."""

from dataclasses import replace
from pathlib import Path

from baseload.catalog.ec2 import DEFAULT_REGION
from baseload.cloud.simulated import settings_file
from baseload.cloud.simulated.settings import CloudSettings
from baseload.control.settings import Settings as KarpenterSettings
from baseload.kube import one_map
from baseload.values.errors import BadInput, Fault
from baseload.values.instant import SECOND
from baseload.world import options
from baseload.world.living import LifeSettings
from baseload.world.options import Settings


def of_files(
    *, region: str | None = None, seed: int = 0, options: str | None = None, cloud: Path | None = None
) -> LifeSettings:
    """What the files say, the defaults where there is none. Raises BadInput with all that is wrong in them."""
    faults: list[Fault] = []
    found, behaviour = Settings(), CloudSettings()
    try:
        found = _options(options)
    except BadInput as error:
        faults += error.faults
    try:
        behaviour = _cloud(cloud)
    except BadInput as error:
        faults += error.faults
    if faults:
        raise BadInput(faults)
    plain = LifeSettings(region=region or DEFAULT_REGION, seed=seed, cloud=behaviour)
    return with_options(plain, found)


def with_options(settings: LifeSettings, found: Settings) -> LifeSettings:
    """The same with the controllers' options."""
    karpenter = KarpenterSettings(
        batch_idle=found.batch_idle / SECOND, batch_longest=found.batch_longest / SECOND, options=found.options
    )
    return replace(
        settings,
        karpenter=karpenter,
        vm_memory_overhead_percent=found.vm_memory_overhead_percent,
        reserved_enis=found.reserved_enis,
    )


def _options(file: str | None) -> Settings:
    return options.read(file) if file else Settings()


def _cloud(file: Path | None) -> CloudSettings:
    if file is None:
        return CloudSettings()
    tree = one_map.read(str(file))
    if not isinstance(tree, dict) or set(tree) != {"cloud"}:
        raise BadInput([Fault("is no map `cloud`", file=str(file), allowed="e.g. cloud: {spot: {life: 24h}}")])
    return settings_file.read(tree["cloud"], file=str(file))
