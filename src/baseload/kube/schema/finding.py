"""One thing wrong with one object, before it is known how much it matters."""

import enum
from dataclasses import dataclass, replace


class Weight(enum.Enum):
    """What a finding does to the input."""

    NOTE = "said, and nothing more"
    WRONG = "refused or said, as --validate has it"
    FATAL = "refused always: no decision can be made with it"


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, in the words of the API server, and at which field."""

    path: str
    message: str
    allowed: str = ""
    weight: Weight = Weight.WRONG

    def below(self, path: str) -> "Finding":
        """The same finding seen from further out."""
        if not path or self.path.startswith("["):
            return replace(self, path=path + self.path)
        return replace(self, path=f"{path}.{self.path}" if self.path else path)


def required(path: str, why: str = "") -> Finding:
    """A field that must be given is not."""
    return Finding(path, f"Required value: {why}" if why else "Required value")


def invalid(path: str, value: object, why: str) -> Finding:
    """A value that its field cannot have."""
    return Finding(path, f"Invalid value: {shown(value)}: {why}")


def unsupported(path: str, value: object, supported: tuple[str, ...] | list[str]) -> Finding:
    """A value that is none of a closed list."""
    listed = ", ".join(f'"{choice}"' for choice in supported)
    return Finding(path, f"Unsupported value: {shown(value)}: supported values: {listed}")


def shown(value: object) -> str:
    """A value as messages print it, shortened where it is long."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int | float):
        return repr(value) if abs(value) < 10**20 else f"{value:.6g}" if isinstance(value, float) else "a huge number"
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 80 else f'"{value[:80]}..."'
    return "a map" if isinstance(value, dict) else "a list"
