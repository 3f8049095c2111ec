"""From a bundle to binaries that run."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from symgen.emit.bundle import SourceBundle
from symgen.toolchain import extensions
from symgen.toolchain.compiler import ZIG_PACKAGE
from symgen.toolchain.extensions import PrintedSourceError, compile_extensions
from symgen.toolchain.install import stage
from symgen.toolchain.loading import load_package
from symgen.toolchain.processes import CommandFailedError, Processes
from tests.choosing import slow
from tests.toolchain.sample import bundle


@pytest.mark.slow
def test_the_packaged_compiler_compiles_and_leaves_nothing(tmp_path, private_cache, monkeypatch):
    pytest.importorskip(ZIG_PACKAGE, reason="ziglang is not installed")
    home = tmp_path / "home"
    home.mkdir()
    for name, folder in {"PATH": "nowhere", "HOME": "home", "XDG_CACHE_HOME": "home"}.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    sources = bundle(3.0)
    result = compile_extensions(sources)
    with stage(tmp_path / "out" / "sample") as staged:
        staged.write_sources(sources.files)
        staged.write_binaries(result.files())
        assert load_package(staged.folder).scaled(2.0) == 6.0
    assert os.listdir(home) == []
    assert not (private_cache / "work").exists()


@pytest.mark.slow
def test_what_was_compiled_once_comes_from_the_cache(private_cache, monkeypatch):
    first = compile_extensions(bundle())
    assert not first.cached
    assert not (private_cache / "work").exists()  # nothing is left
    content = first.binaries[0].content
    assert str(private_cache).encode() not in content  # nor said about where it was made
    assert compile_extensions(bundle(), force=True).binaries[0].content == content
    monkeypatch.setattr(extensions, "run_tasks", None)  # nothing may be compiled any more
    second = compile_extensions(bundle())
    assert second.cached
    assert second.files() == first.files()
    assert second.seconds == {}


@pytest.mark.slow
def test_what_packages_share_is_compiled_once(private_cache):
    """The object of another package serves, with `force` too, and a changed file is another one."""

    def compiled(factor, helper="return a * b;"):
        sources = bundle(factor)
        text = f'#include "kernel.h"\ndouble helper(double a, double b) {{ {helper} }}\n'
        files = {**sources.files, "c/helper.c": text}
        (extension,) = sources.extensions
        extension = replace(extension, c_sources=("c/kernel.c",), shared=("c/helper.c",))
        reports = []
        compile_extensions(
            SourceBundle("sample", files, (extension,)), force=True,
            progress=lambda *report: reports.append(report),
        )  # fmt: skip
        return sum(stage == "c" for stage, _, _ in reports)

    assert [compiled(2.0), compiled(3.0), compiled(3.0, "return b * a;")] == [3, 2, 3]


@pytest.mark.parametrize(("sources", "words"), [
    *slow(({"pyx": "def f(:\n    pass\n"},
           ("translation of _compiled.pyx failed (exit status 1)", "-m cython", ".pyx:1:"))),
    ({"kernel": "double kernel(double x) { return undeclared * x; }\nint wrong(void { }\n"},
     ("compilation of c/kernel.c failed", " -O2 ", "undeclared", "c/kernel.c:2:")),
])  # fmt: skip
def test_errors_of_the_compiler_are_shown_in_full(sources, words):
    with pytest.raises(CommandFailedError) as caught:
        compile_extensions(bundle(**sources))
    assert [word for word in words if word not in str(caught.value)] == []


def test_invalid_printed_code_is_a_fault_of_symgen(private_cache):
    """The message names function and file, and does not suggest another compiler."""
    sources = bundle(kernel="double kernel(double x)\n{\n    return , x;\n}\n")
    sources = replace(sources, beginnings={"c/kernel.c": {"kernel(double": "kane.mass_matrix"}})
    with pytest.raises(PrintedSourceError) as caught:
        compile_extensions(sources)
    message = str(caught.value)
    assert "fault of symgen, not of your model or compiler" in message
    assert "printed for kane.mass_matrix in c/kernel.c" in message
    assert "--backend numpy" in message
    assert "install" not in message
    (kept,) = (private_cache / "failed").iterdir()
    assert str(kept) in message
    assert (kept / "c" / "kernel.c").read_text() == sources.files["c/kernel.c"]
    with pytest.raises(PrintedSourceError, match=re.escape(str(kept))):
        compile_extensions(sources)


@pytest.mark.parametrize(("body", "words"), [
    ('echo "k.c:1:10: fatal error: math.h: No such file or directory" >&2; exit 1',
     r"C library is missing: unset CC=.*, or install"),
    ('echo "c/kernel.c:1:1: internal compiler error: aborted" >&2; exit 1', "install"),
    ('echo "/tmp/cc.s: No space left on device" >&2; exit 1', "install"),
    ("echo \"error: unrecognized command-line option '-march=native'\" >&2; exit 1", "install"),
    ("echo \"ld: undefined reference to 'sin'\" >&2; exit 1", "install"),
    ('echo "licence expired" >&2; exit 1', "install"),
    ("exit 0", r"exit status 0, but there is no .*\.o\)"),
    ("kill -9 $$", "SIGKILL"),
])  # fmt: skip
def test_faults_of_the_compiler_are_told_apart(fake_compiler, body, words):
    fake_compiler(body)
    with pytest.raises(CommandFailedError, match=words) as caught:
        compile_extensions(bundle())
    assert not isinstance(caught.value, PrintedSourceError)


def test_one_failure_ends_the_other_commands(fake_compiler):
    fake_compiler('case "$*" in *helper*) sleep 600;; *kernel*) sleep 0.2; exit 3;; esac')
    start = time.monotonic()
    with pytest.raises(CommandFailedError, match="exit status 3"):
        compile_extensions(bundle(), jobs=4)
    assert time.monotonic() - start < 20


def test_an_exception_in_the_callback_ends_all(fake_compiler):
    writes = 'while [ $# -gt 1 ]; do [ "$1" = -o ] && : > "$2"; shift; done; exit 0'
    fake_compiler(f'case "$*" in *helper*) sleep 600;; esac; {writes}')

    def interrupt(stage, done, total):
        raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        compile_extensions(bundle(), jobs=4, progress=interrupt)
    assert time.monotonic() - start < 20


def test_stopped_commands_have_ended():
    processes = Processes()
    process = processes._start([sys.executable, "-c", "import time; time.sleep(60)"], None, None)
    processes.stop()
    assert process.returncode is not None


INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests may run with it ignored
from symgen.toolchain.extensions import compile_extensions
from symgen.toolchain.compiler import ZIG_PACKAGE
from tests.toolchain.sample import bundle
print("ready", flush=True)
compile_extensions(bundle(), jobs=4)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_the_compilers_and_leaves_nothing(fake_compiler, tmp_path, private_cache):
    pids = _interrupted(fake_compiler, tmp_path, signal.SIGINT)
    assert not any(map(_is_running, pids))
    assert not (private_cache / "work").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_no_compiler_outlives_a_build_that_is_killed(fake_compiler, tmp_path, cache):
    pids = _interrupted(fake_compiler, tmp_path, signal.SIGKILL)
    while any(map(_is_running, pids)):  # else the test is ended by its time
        time.sleep(0.02)
    with cache.workspace("next"):
        assert len(os.listdir(cache.folder / "work")) == 2
    assert not (cache.folder / "work").exists()


def _interrupted(fake_compiler, tmp_path, number):
    """Send a signal to a build whose compilers never end; the processes of those."""
    pids = tmp_path / "pids"
    forever = f"trap '' TERM INT; echo $$ >> {pids}; sleep 600 & echo $! >> {pids}; wait"
    fake_compiler(f'case "$*" in *-dM*) exit 0;; esac; {forever}')
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        guard = threading.Timer(60, process.kill)
        guard.start()
        while not (pids.exists() and len(pids.read_text().split()) >= 4):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
        process.wait()
        guard.cancel()
    assert process.returncode in (1, -number, 130)
    return [int(pid) for pid in pids.read_text().split()]


def _is_running(pid):
    state = Path(f"/proc/{pid}/stat")
    if Path("/proc/self").exists():  # a zombie that nobody has reaped yet has ended
        return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
