"""Claims: what a demonstration shows, and whether it was so."""

from dataclasses import dataclass, field

from rich.console import Console


@dataclass(slots=True)
class Claims:
    """Collects claims as they are checked; each is shown with a tick or a cross."""

    console: Console
    held: int = 0
    broken: list[str] = field(default_factory=list)

    def check(self, claim: str, holds: bool) -> None:
        """Record and show whether a claim holds."""
        if holds:
            self.held += 1
            self.console.print(f"  [green]✓[/] {claim}")
        else:
            self.broken.append(claim)
            self.console.print(f"  [bold red]✗ {claim}[/]")
