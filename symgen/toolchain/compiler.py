"""Find the C compiler, identify it, and write down its command lines.

The compiler is the one that ``CC`` names (arguments included), else the first of `CANDIDATES`
that answers, else that of the package ziglang, where it is installed.  Flags follow the
measurements: -O2 with the relaxations that change no result of finite arithmetic; -ffast-math is
never used, it breaks the range reduction of sin and cos.  Looking for vectors in straight-line code
takes a fifth of gcc's time and gains nothing: where vectors pay, the sources write them.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import platform
import re
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from symgen.errors import RequestError, ToolchainError
from symgen.options import BASELINE, FLAGS, NATIVE
from symgen.support.suggestions import suggestion
from symgen.toolchain.cache import open_cache
from symgen.toolchain.processes import CommandFailedError, Processes, describe_status

CANDIDATES: tuple[tuple[str, ...], ...] = (("cc",), ("gcc",), ("clang",))
"""Commands that are tried in this order where ``CC`` says nothing."""

COMMON_FLAGS = (
    "-std=c99",
    "-O2",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-signed-zeros",
    "-ffp-contract=fast",
    "-fno-tree-slp-vectorize",
    "-fPIC",
    "-DNDEBUG",
)

QUICK_FLAGS = ("-fno-dse", "-fno-tree-dse")
"""For gcc: straight lines have no dead stores, since every entry is written once.  Their machine
code is the same, after 5 to 10 % less time.  Other passes that find nothing there serve loops:
without them the derivatives of the human's torques take 17 % longer."""

STRAIGHT_FLAGS = (
    "-fno-rerun-cse-after-loop", "-fno-tree-pre", "-fno-tree-tail-merge", "-fno-tree-vrp",
    "-fno-ssa-phiopt", "-fno-tree-sink", "-fno-tree-loop-im",
)  # fmt: skip
"""For gcc and files without loops over joints: what takes care of loops and branches, 5 to 7 % of
the time; the machine code of kernels is the same, or differs by an instruction or so."""

ZIG_PACKAGE = "ziglang"
"""Package of PyPI that holds a whole C compiler, clang with the C library, in one file."""

ZIG_OPTIONS = ("-mcpu=baseline",)
"""Zig makes code for the processor that it runs on unless it is told otherwise."""

ZIG_LINK_OPTIONS = ("-nostdlib", "-lc")
"""Zig would compile a run-time library of its own first, 12 s and 47 MB; kernels use none of it."""

WRAPPER_OPTIONS = ("-O1", "-fstrict-aliasing")
"""For the C that takes calls from Python: a third less time of gcc, and a call takes as long."""

PLAIN_OPTIONS = ("-O1",)
"""For the plain version of kernels where there is another one for a single sample: it serves old
processors alone, and takes gcc a fifth to a third less time.  In a native build there is none."""

NATIVE_OPTIONS = (("-march=native",), ("-mcpu=native",))
"""Options for code for this very processor; some compilers for ARM know the second alone."""

LINUX_NAMES = {
    "bmi": "bmi1",
    "lzcnt": "abm",
    "pclmul": "pclmulqdq",
    "prfchw": "3dnowprefetch",
    "rdrnd": "rdrand",
    "sha": "shani",
    "sse3": "pni",
}
"""Features by the names of the compilers' macros, where Linux has another name."""


@dataclass(frozen=True)
class Version:
    """Kernels compiled for `width` samples at once with some set of `instructions`.

    The names of instructions are those that ``batch.c`` can look for; "all" are there always.
    """

    width: int
    instructions: str
    options: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Suffix of the names of its kernels."""
        return f"{self.instructions}_{self.width}"

    @property
    def macros(self) -> tuple[str, ...]:
        """Macros for ``symgen-real.h``."""
        return (f"-DSYMGEN_WIDTH={self.width}", f"-DSYMGEN_VARIANT={self.name}")


AVX2 = ("-mavx2", "-mfma", "-mbmi2")
AVX512 = (*AVX2, "-mavx512f", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512")
PORTABLE_VERSIONS: dict[str, tuple[Version, ...]] = {
    "__x86_64__": (
        Version(1, "avx2", AVX2),
        Version(4, "avx2", AVX2),
        Version(8, "avx512", AVX512),
    ),
    "__aarch64__": (Version(2, "all"),),
}
"""Versions next to the plain one by the compiler's macro for the processor, the best last."""

ANSWER_SECONDS = 60.0
"""How long a compiler may take to say its version."""


class CompilerMissingError(ToolchainError):
    """There is no C compiler; the NumPy backend needs none."""


def compiler_packages() -> str:
    """Say what to install to get a C compiler."""
    if sys.platform == "darwin":
        system = "install the Xcode command line tools: xcode-select --install"
    elif sys.platform == "win32":
        system = "install gcc or clang and put it on PATH"
    else:
        system = (
            "install gcc: apt install build-essential (Debian, Ubuntu), dnf install gcc (Fedora)"
        )
    return f"{system}; or one that comes as a Python package: pip install {ZIG_PACKAGE}"


def header_packages() -> str:
    """Say what to install to get the headers of this Python."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if sys.platform == "linux":
        return (
            f"install python3-dev or python{version}-dev (Debian, Ubuntu), "
            "python3-devel (Fedora), and use the Python that they belong to"
        )
    return f"install a Python {version} that comes with its headers (python.org, conda, Homebrew)"


_COMPLAINTS = (
    (
        re.compile(
            r"\w+\.h: No such file|'\S+\.h' file not found|cannot find (-l|crt)|cannot execute .cc1"
        ),
        "if a file of the compiler or the C library is missing",
    ),
    (
        re.compile(r"(unrecogni[sz]ed|unknown|unsupported)\b.*\b(option|argument|flag)", re.I),
        "an option is unknown to this compiler, and symgen is for gcc and clang",
    ),
)


def hint_for(output: str) -> str:
    """Say what to install when a compiler failed, by what it complains about."""
    hints = (words for complaint, words in _COMPLAINTS if complaint.search(output))
    words = next(hints, "if the compiler is at fault, not the model")
    unset = f"unset CC={os.environ['CC']!r}, or " if os.environ.get("CC", "").strip() else ""
    return f"{words}: {unset}{compiler_packages()}"


@dataclass(frozen=True)
class Compiler:
    """A C compiler that answered: how it is called, and all that it says about its version."""

    command: tuple[str, ...]
    version: str

    @property
    def name(self) -> str:
        """First line of the version, for people."""
        return self.version.partition("\n")[0].strip()

    def compile_command(
        self,
        source: str,
        output: str,
        *,
        flags: str,
        includes: Sequence[str] = (),
        more: Sequence[str] = (),
    ) -> tuple[str, ...]:
        """Return the command that makes an object file of one C file.

        Headers in quotes are looked for from the working directory on, headers in <...> are not.
        """
        folders = tuple(f"-I{folder}" for folder in includes)
        options = (*self.options(flags), *more)
        return (*self.command, *options, "-iquote", ".", *folders, "-c", source, "-o", output)

    def link_command(self, objects: Sequence[str], output: str) -> tuple[str, ...]:
        """Return the command that links objects to an extension module."""
        more = ZIG_LINK_OPTIONS if _is_zig(self.command) else ()
        return (*self.command, *_link_flags(), *objects, "-o", output, "-lm", "-pthread", *more)

    def options(self, flags: str) -> tuple[str, ...]:
        """Return the options of every compilation."""
        return (*COMMON_FLAGS, *self._native(flags))

    @property
    def kernel_options(self) -> tuple[str, ...]:
        """Further options of kernels: see `QUICK_FLAGS`."""
        return QUICK_FLAGS if self._is_gcc and self._knows(QUICK_FLAGS) else ()

    @property
    def straight_options(self) -> tuple[str, ...]:
        """Further options of kernels in a straight line: see `STRAIGHT_FLAGS`."""
        return STRAIGHT_FLAGS if self._is_gcc and self._knows(STRAIGHT_FLAGS) else ()

    def _native(self, flags: str) -> tuple[str, ...]:
        """Return what asks for code for this very processor, if `flags` do.

        A compiler that knows no word for that makes ``portable`` code; so does every one on a
        system that does not list what the processor has, as macOS: a package could not tell there
        whether its binary fits.
        """
        if flags != NATIVE or not _features_here():
            return ()
        return next((words for words in NATIVE_OPTIONS if self._knows(words)), ())

    @property
    def _is_gcc(self) -> bool:
        """Others claim to be, and warn of options that they do not know."""
        macros = self._macros(())
        return "__GNUC__" in macros and "__clang__" not in macros

    def _macros(self, options: tuple[str, ...]) -> set[str]:
        try:
            lines = _predefined_macros(self.command, options).splitlines()
        except CommandFailedError:  # then it will not compile either, and say more
            return set()
        return {line.split()[1] for line in lines}

    def _knows(self, options: tuple[str, ...]) -> bool:
        return bool(self._macros(options))

    def versions(self, flags: str) -> tuple[Version, ...]:
        """Return the versions of kernels that are made beside the plain one, the best last."""
        native = self._native(flags)
        macros = self._macros(native)
        if "__GNUC__" not in macros:
            return ()  # there are no vectors
        if native:
            wide = {"__AVX512F__": 8, "__AVX2__": 4}
            return (Version(next((wide[m] for m in wide if m in macros), 2), "all"),)
        if flags == BASELINE:
            return (Version(2, "all"),)
        return next((v for macro, v in PORTABLE_VERSIONS.items() if macro in macros), ())

    def processor(self, flags: str) -> str:
        """Return what `flags` makes the compiler assume of the processor; "" for any of its kind.

        With ``native`` a binary belongs to the processor, not only to the machine's architecture:
        the predefined macros say which instructions are used.
        """
        native = self._native(flags)
        return _predefined_macros(self.command, native) if native else ""

    def cpu_features(self, flags: str) -> tuple[str, ...]:
        """Return the features, as Linux names them, that code made with `flags` may use.

        A package checks them before it loads its binary.  On x86 they are those features of this
        processor that the compiler has a macro for, since Linux lists settings of the system among
        them; elsewhere it lists instructions alone.
        """
        lines = set(self.processor(flags).splitlines())
        if not lines:
            return ()
        if "#define __x86_64__ 1" not in lines:
            return tuple(sorted(_features_here()))
        lines -= set(_predefined_macros(self.command, ()).splitlines())
        macros = {line.split()[1].strip("_").replace("_", "").lower() for line in lines}
        names = {LINUX_NAMES.get(macro, macro) for macro in macros}
        return tuple(sorted(f for f in _features_here() if f.replace("_", "") in names))


def check_flag_set(flags: str) -> str:
    """Return `flags` if there is such a set of flags."""
    if flags not in FLAGS:
        raise RequestError(f"unknown flags {flags!r}; {suggestion(flags, FLAGS)}")
    return flags


def find_compiler() -> Compiler:
    """Return the C compiler of this machine.

    Raises `CompilerMissingError` where there is none, and another `ToolchainError` where ``CC``
    names something that does not work: what was asked for explicitly is not replaced silently.
    """
    return _find(os.environ.get("CC", "").strip(), os.environ.get("PATH"))


@functools.cache
def _find(requested: str, path: str | None) -> Compiler:
    """Search; remembered per process, for as long as ``CC`` and ``PATH`` stay what they are."""
    if requested:
        return _requested_compiler(requested, path)
    answers = []
    for command in (*CANDIDATES, *_packaged_compiler()):
        if shutil.which(command[0], path=path) is None:
            continue
        try:
            return _identify(command)
        except CommandFailedError as error:  # as the stub for cc of a macOS without developer tools
            answers.append(str(error))
    names = ", ".join(command[0] for command in CANDIDATES)
    message = (
        f"no C compiler found (looked for {names} on PATH, at CC, and for the Python package "
        f"{ZIG_PACKAGE}); {compiler_packages()}"
    )
    raise CompilerMissingError("\n".join([message, *answers]))


def _requested_compiler(requested: str, path: str | None) -> Compiler:
    try:
        command = tuple(shlex.split(requested))
    except ValueError as error:
        raise ToolchainError(f"cannot read CC={requested!r}: {error}") from error
    program = shutil.which(command[0], path=path) if command else None
    if program is None:
        raise ToolchainError(
            f"CC={requested!r} names no program; unset CC, or {compiler_packages()}"
        )
    if os.sep in command[0]:  # it will be started from another folder
        command = (os.path.abspath(program), *command[1:])
    return _identify(command)


def _packaged_compiler() -> tuple[tuple[str, ...], ...]:
    """Find the command of the compiler that is a Python package; none if there is none."""
    with suppress(ImportError, ValueError):  # ValueError: somebody has barred its import
        if importlib.util.find_spec(ZIG_PACKAGE) is not None:
            # -P: a folder of that name where symgen happens to run is never taken for it
            return ((sys.executable, "-P", "-m", ZIG_PACKAGE, "cc"),)
    return ()


def _is_zig(command: Sequence[str]) -> bool:
    return ZIG_PACKAGE in command or Path(command[0]).stem == "zig"


def _identify(command: tuple[str, ...]) -> Compiler:
    if _is_zig(command) and not any(word.startswith("-mcpu") for word in command):
        command = (*command, *ZIG_OPTIONS)
    return Compiler(command, _ask((*command, "--version")).strip())


@functools.cache
def _predefined_macros(command: tuple[str, ...], flags: tuple[str, ...]) -> str:
    return _ask((*command, *flags, "-dM", "-E", "-x", "c", os.devnull))


def scratch(folder: Path) -> dict[str, str]:
    """Return the environment in which compilers leave nothing outside `folder`."""
    names = ("TMPDIR", "ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")
    return dict.fromkeys(names, str(folder))


def _ask(command: tuple[str, ...]) -> str:
    with open_cache().workspace("ask") as folder, Processes() as processes:
        environment = {**scratch(folder), "LC_ALL": "C"}
        answer = processes.run(command, environment=environment, timeout=ANSWER_SECONDS)
    if answer.status:
        action = "asking the C compiler what it is"
        status, hint = describe_status(answer.status), hint_for(answer.output)
        raise CommandFailedError(action, command, status, answer.output, hint)
    return answer.output


def _features_here() -> list[str]:
    """Return the features that Linux lists for this processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
    listed = [line.partition(":")[2] for line in lines if line.startswith(("flags", "Features"))]
    return listed[0].split() if listed else []


def _link_flags() -> tuple[str, ...]:
    if sys.platform == "darwin":
        return ("-bundle", "-undefined", "dynamic_lookup")
    return ("-shared",)


def python_abi() -> str:
    """Return the tag that says which Pythons and machines a binary fits."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    return f"{suffix or sys.implementation.cache_tag}|{platform.machine()}"


def extension_suffix() -> str:
    """Return the ending of extension modules for this Python."""
    return str(sysconfig.get_config_var("EXT_SUFFIX"))


def include_folders() -> tuple[str, ...]:
    """Return the folders of the headers of Python and NumPy, or say what to install."""
    paths = sysconfig.get_paths()
    folders = list(dict.fromkeys([paths["include"], paths["platinclude"]]))
    if not any((Path(folder) / "Python.h").is_file() for folder in folders):
        raise ToolchainError(f"no Python.h in {', '.join(folders)}; {header_packages()}")
    return (*folders, np.get_include())
