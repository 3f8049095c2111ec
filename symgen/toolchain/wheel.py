"""Wheels of generated packages, which pip installs: nothing but NumPy is needed at run time.

    packed(folder, "arm_dynamics")   -> arm_dynamics-0.1+3f2a91c0-cp311-cp311-linux_x86_64.whl
    editable(folder, "arm_dynamics") -> arm_dynamics-0.1+3f2a91c0-py3-none-any.whl

A package imports its own modules by relative names, so it works under any name.  The files are
those of its manifest.  A wheel with a binary serves the Python and the platform it was compiled
for; one without serves any.  An editable wheel holds the stubs, which editors and type checkers
read, and an ``__init__.py`` that runs the package where it lies, so that the next build serves the
next import.  The format is that of PEP 427; the same package gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import io
import sysconfig
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.tags import sys_tags
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from symgen.errors import RequestError, ToolchainError
from symgen.toolchain.files import digest
from symgen.toolchain.install import INIT_FILE
from symgen.toolchain.manifest import MANIFEST_FILE, Manifest, read_manifest
from symgen.version import __version__

GENERATOR = f"symgen {__version__}"
ANY = "py3-none-any"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first date that a zip file knows

_EDITABLE_INIT = '''\
"""The module that symgen built in {folder}; a new build there serves the next import."""

import pathlib
import sys
from importlib.machinery import SourceFileLoader

_folder = pathlib.Path({folder!r})
if not (_folder / "__init__.py").is_file():
    raise ImportError(
        f"{{__name__}} was installed from {{_folder}}, which is gone: build it again with "
        "symgen build MODEL --install, or remove it with pip uninstall {distribution}"
    )
__path__ = [str(_folder)]
__file__ = str(_folder / "__init__.py")
SourceFileLoader(__name__, __file__).exec_module(sys.modules[__name__])
'''


@dataclass(frozen=True)
class Archive:
    """A wheel, or source, that is not written yet: the name of its file, and its bytes."""

    file_name: str
    content: bytes


def distribution_name(module: str) -> str:
    """What pip calls the distribution of `module`: arm-dynamics for arm_dynamics."""
    return str(canonicalize_name(module))


def version_named(text: str) -> Version:
    """A version as PEP 440 defines it; RequestError for anything else."""
    try:
        return Version(text)
    except InvalidVersion:
        raise RequestError(f"{text!r} is no version; such as 1.0 or 2.1.3 (PEP 440)") from None


def packed(folder: Path, module: str, version: Version | None = None) -> Archive:
    """The package in `folder` as a wheel that is imported as `module`.

    Without a `version` it is 0.1 with a digest of the files, so that installers tell any two
    packages apart.
    """
    manifest = intact_manifest(folder)
    names = [*manifest.files, MANIFEST_FILE]
    files = {f"{module}/{name}": (folder / name).read_bytes() for name in names}
    tag = _platform_tag() if manifest.binaries else ANY
    return _wheel(module, version or version_of(manifest), tag, files)


def editable(folder: Path, module: str) -> Archive:
    """A wheel whose `module` is the package in `folder`, wherever it is imported."""
    manifest = intact_manifest(folder)
    typed = [name for name in manifest.files if name.endswith((".pyi", "py.typed"))]
    files = {f"{module}/{name}": (folder / name).read_bytes() for name in typed}
    init = _EDITABLE_INIT.format(folder=str(folder), distribution=distribution_name(module))
    files[f"{module}/{INIT_FILE}"] = init.encode()
    return _wheel(module, version_of(manifest), ANY, files)


def intact_manifest(folder: Path) -> Manifest:
    """The manifest of `folder`; ToolchainError where the files are not as symgen wrote them."""
    manifest = read_manifest(folder)
    if manifest is None or not manifest.is_intact(folder):
        raise ToolchainError(f"{folder} is not as symgen wrote it; build it again with --force")
    return manifest


def version_of(manifest: Manifest) -> Version:
    """0.1 with a digest of the files."""
    listed = "".join(f"{name} {content}\n" for name, content in sorted(manifest.files.items()))
    return Version(f"0.1+{digest(listed.encode())[:8]}")


def _platform_tag() -> str:
    """Interpreter, ABI and platform that binaries which are compiled here serve."""
    here = next(sys_tags())
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{here.interpreter}-{here.abi}-{platform}"


def _wheel(module: str, version: Version, tag: str, files: Mapping[str, bytes]) -> Archive:
    stem = f"{module}-{version}"
    info = f"{stem}.dist-info"
    pure = str(tag == ANY).lower()
    members = dict(sorted(files.items())) | {
        f"{info}/METADATA": metadata(module, version).encode(),
        f"{info}/WHEEL": (
            f"Wheel-Version: 1.0\nGenerator: {GENERATOR}\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"
        ).encode(),
    }
    record = f"{info}/RECORD"
    lines = [f"{name},{_hash(content)},{len(content)}" for name, content in members.items()]
    members[record] = ("\n".join([*lines, f"{record},,"]) + "\n").encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            member = zipfile.ZipInfo(name, _EPOCH)
            member.external_attr = 0o644 << 16
            archive.writestr(member, content, zipfile.ZIP_DEFLATED)
    return Archive(f"{stem}-{tag}.whl", stream.getvalue())


def metadata(module: str, version: Version) -> str:
    """What installers read of a distribution."""
    return (
        f"Metadata-Version: 2.1\nName: {distribution_name(module)}\nVersion: {version}\n"
        f"Summary: Dynamics of a robot, generated by {GENERATOR}\n"
        "Requires-Python: >=3.11\nRequires-Dist: numpy>=1.26\n"
    )


def _hash(content: bytes) -> str:
    """A digest as in the list of a wheel's files: URL-safe base 64 without its padding."""
    encoded = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
    return f"sha256={encoded.decode()}"
