"""What the terms of an EC2NodeClass find: subnets, security groups, images, the profile of a role.

Of what the settings declare, terms find what they say. Of what they do not declare, everything resolves: names and tags
stand for what a user has in his own account, and here they should just work.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from baseload.catalog.nodeclass import FAMILIES
from baseload.cloud.errors import INVALID_PARAMETER, InvalidLaunch, NotFound
from baseload.cloud.port import Image, SecurityGroup, Subnet
from baseload.cloud.simulated.draws import lot
from baseload.cloud.simulated.settings import AccountSettings, Release, SubnetSettings
from baseload.kube.types.ec2 import AMISelectorTerm, SecurityGroupSelectorTerm, SubnetSelectorTerm

FIRST_VERSION: Final = "v20261101"
"""What `latest` stands for before the first release."""
_Variant = Literal["standard", "nvidia", "neuron"]
_LINUX: Final[tuple[tuple[str, _Variant], ...]] = (
    ("amd64", "standard"),
    ("arm64", "standard"),
    ("amd64", "nvidia"),
    ("arm64", "nvidia"),
    ("amd64", "neuron"),
)
_WINDOWS: Final[tuple[tuple[str, _Variant], ...]] = (("amd64", "standard"),)
ALIASES: Final = tuple(name.lower() for name in FAMILIES if name != "Custom")


def identifier(prefix: str, *names: str) -> str:
    """An id as EC2 gives them, which belongs to these names."""
    return f"{prefix}-0{lot(prefix, *names):016x}"


def usual_subnets(zones: Sequence[str]) -> tuple[SubnetSettings, ...]:
    """One in every zone."""
    return tuple(SubnetSettings(identifier("subnet", zone), zone, tags={"Name": f"private-{zone}"}) for zone in zones)


class Selecting:
    """The account as selectors see it; `start` is the moment from which releases are counted."""

    def __init__(self, settings: AccountSettings, start: int) -> None:
        self._settings, self._start = settings, start
        self._releases = list(settings.releases)
        self._architectures: dict[str, str] = {image.id: image.architecture for image in settings.images}

    def release(self, release: Release) -> None:
        self._releases.append(release)

    def subnets(self, terms: Sequence[SubnetSelectorTerm], there: tuple[Subnet, ...]) -> tuple[Subnet, ...]:
        if not self._settings.subnets:
            return there if terms else ()
        return tuple(it for it in there if any(_is_meant(term.id, term.tags, it.id, it.tags) for term in terms))

    def security_groups(self, terms: Sequence[SecurityGroupSelectorTerm]) -> tuple[SecurityGroup, ...]:
        declared = self._settings.security_groups
        if not declared:
            group = SecurityGroup(identifier("sg", "nodes"), "nodes")
            return (group,) if terms else ()
        return tuple(
            SecurityGroup(it.id, it.name, it.tags)
            for it in declared
            if any(
                (not term.name or term.name == it.name) and _is_meant(term.id, term.tags, it.id, it.tags)
                for term in terms
            )
        )

    def instance_profile(self, role: str) -> str:
        if self._settings.roles and role not in self._settings.roles:
            raise NotFound(f"The role with name {role} cannot be found.", code="NoSuchEntity")
        return f"{role}-profile"

    def images(self, terms: Sequence[AMISelectorTerm], moment: int) -> tuple[Image, ...]:
        """The newest first, then by id."""
        found = {image.id: image for term in terms for image in self._images(term, moment)}
        self._architectures.update((image.id, image.architecture) for image in found.values())
        return tuple(sorted(found.values(), key=lambda image: (-image.created, image.id)))

    def architecture(self, image: str) -> str | None:
        """That of an image that somebody found; None for another one."""
        return self._architectures.get(image)

    def _images(self, term: AMISelectorTerm, moment: int) -> Iterator[Image]:
        if term.alias:
            yield from self._of_alias(term.alias, moment)
        elif self._settings.images:
            for it in self._settings.images:
                named = term.name in ("", it.name)
                if named and not term.ssm_parameter and _is_meant(term.id, term.tags, it.id, it.tags):
                    yield Image(it.id, it.name, it.architecture, self._start + it.created, tags=it.tags)
        elif term.id:
            yield Image(term.id, term.id, "amd64", self._start)
        else:
            text = term.name or term.ssm_parameter or "/".join(f"{k}={v}" for k, v in sorted(term.tags.items()))
            for architecture in ("amd64", "arm64"):
                name = f"{text}-{architecture}"
                yield Image(identifier("ami", name), name, architecture, self._start, tags=term.tags)

    def _of_alias(self, alias: str, moment: int) -> Iterator[Image]:
        family, _, version = alias.partition("@")
        if family not in ALIASES:
            message = f"The alias {alias} is of no known family: one of {', '.join(ALIASES)}."
            raise InvalidLaunch(message, code=INVALID_PARAMETER)
        created = self._start
        known = {it.version: it for it in self._releases if it.family == family and it.at <= moment}
        if version in ("", "latest"):
            newest = max(known.values(), key=lambda it: it.at, default=None)
            version = FIRST_VERSION if newest is None else newest.version
        if version in known:
            created += known[version].at
        for architecture, variant in _WINDOWS if family.startswith("windows") else _LINUX:
            name = f"{family}-{variant}-{architecture}-{version}"
            yield Image(identifier("ami", name), name, architecture, created, variant)


def _is_meant(id: str, wanted: Mapping[str, str], own_id: str, own: Mapping[str, str]) -> bool:
    """Whether a term by id or tags means a thing; the value `*` stands for any."""
    return (not id or id == own_id) and carries(own, wanted)


def carries(own: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether tags hold all the wanted ones; the value `*` stands for any."""
    return all(key in own and value in ("*", own[key]) for key, value in wanted.items())
