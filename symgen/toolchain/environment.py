"""Install wheels into the environment that symgen runs in, by its pip or by uv."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import sys
import tempfile
from pathlib import Path

from symgen.errors import RequestError, ToolchainError
from symgen.toolchain.processes import CommandFailedError, Processes, describe_status
from symgen.toolchain.signals import deferred_signals
from symgen.toolchain.wheel import Archive, distribution_name

_NO_INSTALLER = (
    "this environment has neither pip nor uv: python -m ensurepip brings pip; or write a wheel "
    "with symgen wheel MODEL and install that"
)
_HINT = (
    "symgen installs into the environment that it runs in; where that is the system's Python, make "
    "one of your own (python -m venv) and install symgen there"
)


def check_free(module: str) -> None:
    """Raise `RequestError` where `module` is already something else in this environment."""
    installed = importlib.metadata.Distribution.discover(name=distribution_name(module))
    if any("Generator: symgen" in (found.read_text("WHEEL") or "") for found in installed):
        return  # one of ours, to be replaced
    spec = importlib.util.find_spec(module)
    if spec is not None:
        where = f" ({spec.origin})" if spec.origin else ""
        raise RequestError(
            f"{module} is another module of this environment already{where}; choose a name with "
            "--name"
        )


def install(wheel: Archive) -> None:
    """Install `wheel`, in place of a former one; its requirements are those of symgen.

    Raises `ToolchainError` with the installer's own words.  Ctrl-C waits for its end, a second or
    so: an interrupted pip leaves half a package.
    """
    with tempfile.TemporaryDirectory(prefix="symgen-") as folder:
        path = Path(folder) / wheel.file_name
        path.write_bytes(wheel.content)
        command = [*_installer(), "--no-deps", "--no-index", "--force-reinstall", str(path)]
        with deferred_signals(), Processes() as processes:
            done = processes.run(command)
        if done.status:
            status = describe_status(done.status)
            raise CommandFailedError("the installation", command, status, done.output, _HINT)


def _installer() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        options = ["--quiet", "--disable-pip-version-check", "--no-input"]
        return [sys.executable, "-m", "pip", "install", *options]
    uv = shutil.which("uv")
    if uv is None:
        raise ToolchainError(_NO_INSTALLER)
    return [uv, "pip", "install", "--quiet", "--python", sys.executable]
