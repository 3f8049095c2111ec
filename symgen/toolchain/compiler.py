"""Find the C compiler, identify it, and write its command lines.

The compiler is the one that ``CC`` names (arguments included), else the first of `CANDIDATES` that
answers, else that of the package ziglang, if installed.  Flags follow measurements: -O2 with
relaxations that change no result of finite arithmetic.  -ffast-math is never used: it breaks the
range reduction of sin and cos.  Vectorization of straight-line code takes a fifth of gcc's time and
gains nothing: the sources contain vectors where they pay.
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
"""Commands that are tried in this order if ``CC`` is not set."""

COMMON_FLAGS = (
    "-std=c99", "-O2", "-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros",
    "-ffp-contract=fast", "-fno-tree-slp-vectorize", "-fPIC", "-DNDEBUG",
)  # fmt: skip

QUICK_FLAGS = ("-fno-dse", "-fno-tree-dse")
"""For gcc: kernels have no dead stores, since every entry is written once.  This saves 5 to 10 % of
the compile time with the same machine code."""

STRAIGHT_FLAGS = (
    "-fno-rerun-cse-after-loop", "-fno-tree-pre", "-fno-tree-tail-merge", "-fno-tree-vrp",
    "-fno-ssa-phiopt", "-fno-tree-sink", "-fno-tree-loop-im",
)  # fmt: skip
"""For gcc and files without loops over joints: this skips passes for loops and branches, 5 to 7 %
of the compile time, with nearly the same machine code.  Loops need these passes: without them the
derivatives of the human's torques take 17 % longer."""

ZIG_PACKAGE = "ziglang"
"""Package of PyPI with a complete C compiler: clang with the C library."""

ZIG_OPTIONS = ("-mcpu=baseline",)
"""Zig's default is code for the processor that it runs on."""

ZIG_LINK_OPTIONS = ("-nostdlib", "-lc")
"""Zig would compile its runtime library first (12 s, 47 MB), which kernels do not use."""

WRAPPER_OPTIONS = ("-O1", "-fstrict-aliasing")
"""For the C code of calls from Python: a third less compile time of gcc, at equal speed."""

PLAIN_OPTIONS = ("-O1",)
"""For the plain version of kernels if there is another one for a single sample: only old processors
use it, and gcc takes a fifth to a third less time."""

NATIVE_OPTIONS = (("-march=native",), ("-mcpu=native",))
"""Options for code for this processor; some compilers for ARM know the second alone."""

LINUX_NAMES = {
    "bmi": "bmi1", "lzcnt": "abm", "pclmul": "pclmulqdq", "prfchw": "3dnowprefetch",
    "rdrnd": "rdrand", "sha": "shani", "sse3": "pni",
}  # fmt: skip
"""Linux's names of features, by the names of the compilers' macros, if they differ."""


@dataclass(frozen=True)
class Version:
    """A version of kernels, for `width` samples at once and a set of `instructions`.

    ``batch.c`` knows the names of sets of instructions; every processor has "all".
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
"""Versions that are added to the plain one, by the macro of the processor, the best last."""

ANSWER_SECONDS = 60.0
"""Longest time for a compiler to print its version."""


class CompilerMissingError(ToolchainError):
    """No C compiler was found; the NumPy backend needs none."""


def compiler_packages() -> str:
    """Return advice on how to install a C compiler."""
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
    """Return advice on how to install the headers of this Python."""
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
    """Return advice on a failure of a compiler, by its messages."""
    hints = (words for complaint, words in _COMPLAINTS if complaint.search(output))
    words = next(hints, "if the compiler is at fault, not the model")
    unset = f"unset CC={os.environ['CC']!r}, or " if os.environ.get("CC", "").strip() else ""
    return f"{words}: {unset}{compiler_packages()}"


@dataclass(frozen=True)
class Compiler:
    """A C compiler: its command, and the text that it prints about its version."""

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
        """Return the command that compiles one C file.

        Headers in quotes are relative to the working directory, headers in <...> are not.
        """
        folders = tuple(f"-I{folder}" for folder in includes)
        options = (*self.options(flags), *more)
        return (*self.command, *options, "-iquote", ".", *folders, "-c", source, "-o", output)

    def link_command(self, objects: Sequence[str], output: str) -> tuple[str, ...]:
        """Return the command that links objects to an extension module."""
        bundle = ("-bundle", "-undefined", "dynamic_lookup")
        kind = bundle if sys.platform == "darwin" else ("-shared",)
        more = ZIG_LINK_OPTIONS if _is_zig(self.command) else ()
        return (*self.command, *kind, *objects, "-o", output, "-lm", "-pthread", *more)

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
        """Return the options for code for this processor, if `flags` ask for it.

        None for a compiler without such an option, and on systems that do not list the features of
        the processor (macOS), where a package could not check that its binary fits: the code is
        then ``portable``.
        """
        if flags != NATIVE or not _features_here():
            return ()
        return next((options for options in NATIVE_OPTIONS if self._knows(options)), ())

    @property
    def _is_gcc(self) -> bool:
        """Whether it is gcc: other compilers define ``__GNUC__``, too, but lack its options."""
        macros = self._macros(())
        return "__GNUC__" in macros and "__clang__" not in macros

    def _macros(self, options: tuple[str, ...]) -> set[str]:
        try:
            lines = _predefined_macros(self.command, options).splitlines()
        except CommandFailedError:  # compilation will fail, too, with a better message
            return set()
        return {line.split()[1] for line in lines}

    def _knows(self, options: tuple[str, ...]) -> bool:
        return bool(self._macros(options))

    def versions(self, flags: str) -> tuple[Version, ...]:
        """Return the versions of kernels in addition to the plain one, the best last."""
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
        """Return the predefined macros for ``native`` code, which say which instructions it uses;
        "" for code that fits every processor of the architecture."""
        native = self._native(flags)
        return _predefined_macros(self.command, native) if native else ""

    def cpu_features(self, flags: str) -> tuple[str, ...]:
        """Return the features, by Linux's names, that code compiled with `flags` may use.

        A package checks them before it loads its binary.  On x86, where Linux lists settings of the
        system, too, they are those features of this processor that the compiler has a macro for.
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
    """Return `flags`; RequestError if there is no such set of flags."""
    if flags not in FLAGS:
        raise RequestError(f"unknown flags {flags!r}; {suggestion(flags, FLAGS)}")
    return flags


def find_compiler() -> Compiler:
    """Return the C compiler of this machine.

    Raises `CompilerMissingError` if there is none, and another `ToolchainError` if ``CC`` names one
    that does not work: it is never replaced silently.
    """
    return _find(os.environ.get("CC", "").strip(), os.environ.get("PATH"))


@functools.cache
def _find(requested: str, path: str | None) -> Compiler:
    """Find the compiler, once per process for the same ``CC`` and ``PATH``."""
    if requested:
        return _requested_compiler(requested, path)
    answers = []
    for command in (*CANDIDATES, *_packaged_compiler()):
        if shutil.which(command[0], path=path) is None:
            continue
        try:
            return _identify(command)
        except CommandFailedError as error:  # such as the stub for cc of macOS without its tools
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
    """Return the command of the compiler in the package ziglang, if it is installed."""
    with suppress(ImportError, ValueError):  # ValueError: its import is blocked
        if importlib.util.find_spec(ZIG_PACKAGE) is not None:
            # -P: never import a folder of that name in the working directory
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


def python_abi() -> str:
    """Return a tag for the Pythons and machines that a binary fits."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    return f"{suffix or sys.implementation.cache_tag}|{platform.machine()}"


def extension_suffix() -> str:
    """Return the ending of extension modules for this Python."""
    return str(sysconfig.get_config_var("EXT_SUFFIX"))


def include_folders() -> tuple[str, ...]:
    """Return the folders of the headers of Python and NumPy; ToolchainError without Python.h."""
    paths = sysconfig.get_paths()
    folders = list(dict.fromkeys([paths["include"], paths["platinclude"]]))
    if not any((Path(folder) / "Python.h").is_file() for folder in folders):
        raise ToolchainError(f"no Python.h in {', '.join(folders)}; {header_packages()}")
    return (*folders, np.get_include())
