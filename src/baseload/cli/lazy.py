"""Command groups that know their commands by name and import one only when it runs.

`baseload --help` has to answer at once, while numpy, rich or yaml take longer to import than the answer does. So a
group holds a table of names; each entry says where the command lives, `module:attribute`, and its one line of help.
Help, shell completion and the messages about unknown commands are made from the table alone.
"""

import importlib
from collections.abc import Mapping
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem


class Entry(NamedTuple):
    """Where a command lives, and its one line in the help of its group."""

    where: str  # module:attribute
    help: str


class LazyGroup(click.Group):
    """A group whose commands are a table of entries and further groups of the same kind."""

    def __init__(self, name: str, table: "Mapping[str, Entry | LazyGroup]", *, help: str, epilog: str = "") -> None:
        super().__init__(name, help=help, epilog=epilog, no_args_is_help=True)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.table.get(cmd_name)
        if not isinstance(entry, Entry):
            return entry
        module, _, attribute = entry.where.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command), f"{entry.where} is no command"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.table and not args[0].startswith("-"):
            raise click.exceptions.NoSuchCommand(args[0], possibilities=self.table, ctx=ctx)
        return super().resolve_command(ctx, args)

    def one_line_help(self, name: str) -> str:
        entry = self.table[name]
        return entry.help if isinstance(entry, Entry) else entry.help or ""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.one_line_help(name)) for name in self.table])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [name for name in self.table if name.startswith(incomplete)]
        commands = [CompletionItem(name, help=self.one_line_help(name)) for name in names]
        return commands + click.Command.shell_complete(self, ctx, incomplete)
