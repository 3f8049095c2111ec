"""Put a generated package into its folder: all of it, or nothing that an import could see.

A package is first complete in a staging folder beside its target, where the caller validates it.
A new package is then renamed into place in one step.  One that replaces a former package goes
through these states, each of which imports as exactly one of the two:

1. ``.installing.json`` lists all files, former and new;
2. the former files are linked into ``.former/``, and `FORMER_INIT`, put instead of ``__init__.py``
   in one step, imports the package from there;
3. the new files replace the former ones, one by one, all but ``__init__.py``;
4. the new ``__init__.py`` replaces `FORMER_INIT`; from here on the new package is what imports;
5. former files that are no longer ours, ``.former/`` and ``.installing.json`` are removed.

Ctrl-C waits for the end of this.  If a build is killed, the next one continues from its state.
Files that the manifests do not list are never removed or overwritten, and links are not followed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from symgen.errors import RequestError, ToolchainError
from symgen.toolchain.files import digest, file_digest, file_system_errors, relative_path, write_new
from symgen.toolchain.manifest import (
    BUILD_FILE,
    JOURNAL_FILE,
    MANIFEST_FILE,
    Manifest,
    journal_text,
    read_manifest,
)
from symgen.toolchain.workspace import folder_lock, make_folder, workspace

STAGING_FOLDER = ".symgen"
"""Folder next to the packages, while builds run: staging folders and the lock of installations."""

INIT_FILE = "__init__.py"
FORMER_FOLDER = ".former"
FORMER_INIT = '''\
"""symgen is replacing this package, or was interrupted; until then the former one is used."""

import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

__path__ = [str(Path(__file__).parent / ".former")]
__file__ = str(Path(__file__).parent / ".former" / "__init__.py")
SourceFileLoader(__name__, __file__).exec_module(sys.modules[__name__])
'''


class Stage:
    """A package under construction, in `folder` until `install` is called."""

    def __init__(self, target: Path, folder: Path) -> None:
        self.target = target
        self.folder = folder
        self._sources: dict[str, str] = {}
        self._binaries: dict[str, str] = {}

    def write_sources(self, files: Mapping[str, str]) -> None:
        """Write generated files, which are the same on every machine."""
        for name, text in files.items():
            self._sources[name] = self._write(name, text.encode())

    def write_binaries(self, files: Mapping[str, bytes]) -> None:
        """Write files that fit this machine only."""
        for name, content in files.items():
            self._binaries[name] = self._write(name, content)

    def install(self, facts: Manifest) -> Manifest:
        """Move the staged package into its place and return its manifest.

        `facts` is a manifest whose name and files are replaced by those of the staged package.
        """
        if INIT_FILE not in self._sources:
            raise ValueError(f"a package needs {INIT_FILE}")
        name, sources, binaries = self.target.name, self._sources, self._binaries
        manifest = replace(facts, package=name, sources=sources, binaries=binaries)
        with file_system_errors(f"install {self.target}"):
            write_new(self.folder / MANIFEST_FILE, manifest.manifest_text().encode())
            write_new(self.folder / BUILD_FILE, manifest.build_text().encode())
            self._remove_unlisted(manifest)
            with folder_lock(self.target.parent / STAGING_FOLDER):
                former = check_target(self.target, manifest)
                if former is None:
                    os.rename(self.folder, self.target)
                else:
                    _replace_package(self.folder, self.target, manifest, former)
        return manifest

    def _write(self, name: str, content: bytes) -> str:
        path = self.folder / relative_path(name)
        with file_system_errors(f"write {path}"):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_new(path, content)
        return digest(content)

    def _remove_unlisted(self, manifest: Manifest) -> None:
        """Remove files that the validation of the staged package left in it, such as bytecode."""
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path.is_dir() and not path.is_symlink():
                with suppress(OSError):
                    path.rmdir()
            elif path.relative_to(self.folder).as_posix() not in manifest.owned():
                path.unlink()


@contextmanager
def stage(target: Path) -> Iterator[Stage]:
    """Open a staging folder for the package `target`; it is removed when the `with` block ends.

    So is the output folder, if it was made here and is empty.  Raises `RequestError` if symgen must
    not replace `target`.
    """
    target = Path(target).absolute()
    check_target(target)
    made = not target.parent.exists()
    try:
        with workspace(target.parent / STAGING_FOLDER, target.name) as folder:
            yield Stage(target, make_folder(folder / target.name))
    finally:
        if made:
            with suppress(OSError):  # not empty
                target.parent.rmdir()


def check_place(target: Path) -> None:
    """Raise `RequestError` early where a package cannot be put at `target`."""
    folder = target.parent
    try:
        while not folder.exists() and not folder.is_symlink() and folder != folder.parent:
            folder = folder.parent
        if not folder.is_dir():
            raise RequestError(f"{folder} is no folder; choose another one with --out")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise RequestError(f"{folder} is not writable; choose another folder with --out")
        staging = target.parent / STAGING_FOLDER
        if staging.is_symlink() or (staging.exists() and not staging.is_dir()):
            message = f"{staging} is not a folder of symgen; remove it or choose another --out"
            raise RequestError(message)
        check_target(target)
    except OSError as error:  # a name that is too long, a cycle of links, a disk that is gone
        raise RequestError(f"cannot write to {target.parent}: {error.strerror}") from error


def check_target(target: Path, new: Manifest | None = None) -> Manifest | None:
    """Return the manifest of the package at `target`, None if there is nothing.

    Raises `RequestError` for anything else, or if the package `new` would have to overwrite a file
    that symgen did not write.
    """
    if target.is_symlink():
        raise RequestError(f"{target} is a symbolic link; symgen does not write through it")
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return None
    former = read_manifest(target)
    if former is None:
        message = f"{target} exists and was not written by symgen; move it away or choose --out"
        raise RequestError(message)
    if new is not None:
        _check_files(target, former, new)
    return former


def _check_files(target: Path, former: Manifest, new: Manifest) -> None:
    obstacles = (_obstacle(target, name, former, new) for name in new.files)
    for obstacle in (_foreign_remains(target, former), *obstacles):
        if obstacle is not None:
            message = f"{obstacle} is in the way and was not written by symgen; move it away"
            raise RequestError(message)


def _foreign_remains(target: Path, former: Manifest) -> Path | None:
    """Return a foreign file with the name of a journal or of `FORMER_FOLDER`.

    These are symgen's own if there is a journal, which is written first and removed last.
    """
    if former.unfinished or _imports_former(target):
        return None
    places = (target / JOURNAL_FILE, target / FORMER_FOLDER)
    return next((path for path in places if path.is_symlink() or path.exists()), None)


def _obstacle(target: Path, name: str, former: Manifest, new: Manifest) -> Path | None:
    """Return the obstacle to writing `name`: a link on the way, or a foreign file.

    Names of binaries contain a digest, so that they are always symgen's (in a copied folder, say).
    """
    link = _link_on_the_way(target, name)
    path = target / name
    if link is not None or name in former.owned() or name in new.binaries:
        return link if link is not None or not path.is_dir() else path
    exists = path.is_symlink() or path.exists()
    return path if exists and file_digest(path) != new.files[name] else None


def _link_on_the_way(target: Path, name: str) -> Path | None:
    """Return the first parent of a file in `target` that is a link or no folder."""
    for parent in reversed(PurePosixPath(name).parents):
        folder = target / parent
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            return folder
    return None


@contextmanager
def undisturbed(folder: Path) -> Iterator[None]:
    """Hold off replacements of the package in `folder` during the `with` block.

    Each state of a replacement imports as one package, but an import across several of them may
    miss files.  Without a lock (in a read-only folder, say) the block runs at once.
    """
    with ExitStack() as held:
        with suppress(ToolchainError):
            held.enter_context(folder_lock(folder.parent / STAGING_FOLDER))
        yield


def _replace_package(staged: Path, target: Path, new: Manifest, former: Manifest) -> None:
    _replace_text(staged, target / JOURNAL_FILE, journal_text(former.owned() | new.owned()))
    if not _imports_former(target) and (target / INIT_FILE).is_file():
        _keep_former(staged, target, former)
    names = sorted(name for name in new.files if name != INIT_FILE)
    for name in [*names, MANIFEST_FILE, BUILD_FILE, INIT_FILE]:
        _place(staged, target, name)
    _remove_stale(target, former.owned() - new.owned())
    (target / JOURNAL_FILE).unlink()


def _imports_former(target: Path) -> bool:
    return file_digest(target / INIT_FILE) == digest(FORMER_INIT.encode())


def _replace_text(staged: Path, path: Path, text: str) -> None:
    """Replace a file in one step, through a temporary file beside the staged package."""
    temporary = staged.parent / f"new{path.name}"
    write_new(temporary, text.encode())
    os.replace(temporary, path)


def _keep_former(staged: Path, target: Path, former: Manifest) -> None:
    """Link the former files into `.former` and let `__init__.py` import them from there."""
    folder = target / FORMER_FOLDER
    _remove_tree(folder)
    folder.mkdir()
    for name in former.files:
        if _link_on_the_way(target, name) is None and file_digest(target / name) is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            _link(target / name, folder / name)
    _replace_text(staged, target / INIT_FILE, FORMER_INIT)
    _keep_bytecode_apart(target / INIT_FILE, folder / INIT_FILE)


def _link(source: Path, copy: Path) -> None:
    try:
        os.link(source, copy)
    except OSError:  # a file system without hard links
        shutil.copy2(source, copy)


def _place(staged: Path, target: Path, name: str) -> None:
    """Move one staged file into place, unless a file with this content is there already."""
    source, destination = staged / name, target / name
    if file_digest(destination) == file_digest(source):
        return
    destination.parent.mkdir(parents=True, exist_ok=True)
    for former in (destination, target / FORMER_FOLDER / name):
        _keep_bytecode_apart(source, former)
    os.replace(source, destination)


def _keep_bytecode_apart(path: Path, former: Path) -> None:
    """Give `path` a later whole second than `former`.

    Python considers bytecode up to date if the source has the same size and second of change: two
    builds within a second could otherwise run the code of the first.
    """
    if path.suffix != ".py" or not former.is_file():
        return
    second = int(former.stat().st_mtime)
    if int(path.stat().st_mtime) <= second:
        os.utime(path, (second + 1, second + 1))


def _remove_stale(target: Path, names: set[str]) -> None:
    """Remove former files, their bytecode, and folders that become empty."""
    _remove_tree(target / FORMER_FOLDER)
    for name in sorted(names - {JOURNAL_FILE}):
        path = target / name
        if _link_on_the_way(target, name) is None and (path.is_symlink() or path.is_file()):
            path.unlink()
            _remove_bytecode(path)
            for parent in PurePosixPath(name).parents[:-1]:
                with suppress(OSError):  # not empty
                    (target / parent).rmdir()


def _remove_bytecode(source: Path) -> None:
    """Remove the bytecode of a file that was removed."""
    folder = source.parent / "__pycache__"
    if source.suffix == ".py" and folder.is_dir() and not folder.is_symlink():
        for compiled in folder.glob(f"{source.stem}.*.pyc"):
            compiled.unlink(missing_ok=True)
        with suppress(OSError):  # not empty
            folder.rmdir()


def _remove_tree(folder: Path) -> None:
    if folder.is_symlink():
        raise ToolchainError(f"{folder} is a symbolic link; move it away")
    if folder.exists():
        shutil.rmtree(folder)
