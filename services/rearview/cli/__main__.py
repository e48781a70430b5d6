"""Entry point of `rearview`.

Modules of commands import what a command works with inside the command: `--help` and `status` are asked often, and
drivers, dictionaries and numpy take a second to load.
"""

from __future__ import annotations

import inspect

import typer

from rearview.cli import (
    append_command,
    audit_command,
    backup_commands,
    bench_commands,
    calibrate_command,
    dead_letter_commands,
    demo_command,
    doctor_command,
    eval_commands,
    exchange_commands,
    explain_command,
    forget_commands,
    generations_commands,
    hold_commands,
    key_commands,
    mcp_command,
    memory_commands,
    namespace_commands,
    rescan_command,
    restore_command,
    stack_commands,
    tiers_command,
)

app = typer.Typer(
    name="rearview",
    help="A memory platform for LLM agents: what happened stays findable, and what is forgotten is gone.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
stack_commands.register(app)
doctor_command.register(app)
demo_command.register(app)
append_command.register(app)
memory_commands.register(app)
forget_commands.register(app)
restore_command.register(app)
namespace_commands.register(app)
key_commands.register(app)
mcp_command.register(app)
eval_commands.register(app)
calibrate_command.register(app)
explain_command.register(app)
bench_commands.register(app)
tiers_command.register(app)
audit_command.register(app)
exchange_commands.register(app)
backup_commands.register(app)
generations_commands.register(app)
rescan_command.register(app)
hold_commands.register(app)
dead_letter_commands.register(app)


def _join_lines(registered: typer.Typer) -> None:
    """Let paragraphs of help be as wide as the terminal instead of as wide as their docstrings."""
    for command in registered.registered_commands:
        paragraphs = inspect.cleandoc((command.callback and command.callback.__doc__) or "").split("\n\n")
        command.help = "\n\n".join(text if text.startswith(" ") else " ".join(text.split("\n")) for text in paragraphs)
    for group in registered.registered_groups:
        if group.typer_instance is not None:
            _join_lines(group.typer_instance)


_join_lines(app)


def main() -> None:
    """Run the command line; the process ends with the command's exit code."""
    app()


if __name__ == "__main__":
    main()
