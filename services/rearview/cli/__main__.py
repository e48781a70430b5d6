"""Entry point of `rearview`."""

from __future__ import annotations

import typer

from rearview.cli import bench_commands, demo_command, doctor_command, eval_commands, stack_commands, tiers_command

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
eval_commands.register(app)
bench_commands.register(app)
tiers_command.register(app)


def main() -> None:
    """Run the command line; the process ends with the command's exit code."""
    app()


if __name__ == "__main__":
    main()
