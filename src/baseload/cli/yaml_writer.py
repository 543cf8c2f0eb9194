"""Plans as YAML: parts that several objects share are written out each time, and keys keep their order."""

import yaml


class _Dumper(yaml.CSafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True


def write(tree: object) -> str:
    """A tree of plain values as one document."""
    text: str = yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    return text
