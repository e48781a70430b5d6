"""A process that has ended and that nobody has reaped does not run."""

import subprocess
import sys

import psutil

from rearview.embedded.processes import is_running, wait_until_ended


def test_a_zombie_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        process = psutil.Process(child.pid)
        assert is_running(process)
        assert wait_until_ended([process], timeout_seconds=0.05) == [process]
        assert child.stdin is not None
        child.stdin.close()
        assert wait_until_ended([process], timeout_seconds=30) == []
        assert process.status() == psutil.STATUS_ZOMBIE
        assert not is_running(process)
    assert not is_running(process)
