"""How much a process may use that opens files of strangers.

This module imports nothing of symgen: programs of their own, `mujoco_process` and `xacro_process`,
run it.
"""

from __future__ import annotations

from contextlib import suppress


def limit_resources(seconds: int, size: int) -> None:
    """`seconds` of processor time, `size` bytes of addresses, and no file that is written."""
    try:
        import resource
        import signal
    except ImportError:  # no such limits on this system
        return
    for which, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, size),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(OSError, ValueError):
            resource.setrlimit(which, (most, most))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
