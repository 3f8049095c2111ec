"""Operations on files that several modules of the tool chain share."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from symgen.errors import RequestError, ToolchainError


def digest(content: bytes) -> str:
    """Return the SHA-256 of `content` in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def file_digest(path: Path) -> str | None:
    """Return the digest of a regular file; None for anything else, symbolic links included."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        return digest(path.read_bytes())
    except OSError:
        return None


def relative_path(text: str) -> PurePosixPath:
    """Return `text` as a relative path; ValueError if it could leave its folder."""
    path = PurePosixPath(text)
    if not path.parts or path.is_absolute() or ".." in path.parts or "\\" in text or "\0" in text:
        raise ValueError(f"not a path inside a package: {text!r}")
    return path


def write_new(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file that must not exist yet; symbolic links are never followed."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)


def write_all(folder: Path, files: Mapping[str, str], mode: int = 0o666) -> None:
    """Write new files, by path relative to `folder`."""
    for name, text in files.items():
        path = folder / relative_path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_new(path, text.encode(), mode)


def check_replaceable(path: Path, inputs: Iterable[str | Path] = ()) -> None:
    """Raise `RequestError` if a new file must not replace `path`: a folder, a pipe, a device.

    A symbolic link may be replaced, but not its target.  No link to, or from, one of the files
    `inputs`, and none of these, may be replaced.
    """
    for file in inputs:
        if _same_file(path, file):
            raise RequestError(
                f"cannot write {path}: it is the input {file}; choose another name for the output"
            )
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise RequestError(f"cannot write {path}: {error.strerror}") from error
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise RequestError(f"cannot write {path}: it is {kind}")


def _same_file(path: Path, other: str | Path) -> bool:
    """Return whether two paths lead to one file that exists."""
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def check_writable(path: Path, inputs: Iterable[str | Path] = ()) -> None:
    """Raise `RequestError` as `check_replaceable`, and if the folder is missing or read-only."""
    check_replaceable(path, inputs)
    folder = path.parent
    if not os.path.isdir(folder):
        raise RequestError(f"cannot write {path}: it needs the folder {folder}")
    if not os.access(folder, os.W_OK):
        raise RequestError(f"cannot write {path}: the folder {folder} is read-only")


def write_atomically(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Replace `path` in one step: readers see the former content or the new one."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        write_new(temporary, content, mode)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def replace_file(path: Path, content: bytes) -> Path:
    """Write a file atomically, or raise `RequestError`; return its path."""
    try:
        write_atomically(path, content)
    except OSError as error:
        raise RequestError(f"cannot write {path}: {error.strerror}") from error
    return path


@contextmanager
def file_system_errors(action: str) -> Iterator[None]:
    """Turn errors of the file system (no space, no permission) into a `ToolchainError`."""
    try:
        yield
    except OSError as error:
        raise ToolchainError(f"cannot {action}: {error}") from error
