"""Finding the C compiler and writing its command lines."""

import sys
import sysconfig
from pathlib import Path

import pytest

from symgen.errors import RequestError, ToolchainError
from symgen.toolchain import compiler as compiler_module
from symgen.toolchain.compiler import (
    ZIG_PACKAGE,
    CompilerMissingError,
    check_flag_set,
    find_compiler,
    include_folders,
)


def test_finds_the_default_compiler_once():
    found = find_compiler()
    assert found.command[0] in ("cc", "gcc", "clang")
    assert found.name
    assert find_compiler() is found


@pytest.mark.parametrize(("written", "more"), [("'{}' -m64", ("-m64",)), ("./{}", ())])
def test_cc_may_hold_arguments_and_be_relative(fake_compiler, monkeypatch, written, more):
    script = fake_compiler("exit 1")
    monkeypatch.chdir(script.parent)
    monkeypatch.setenv("CC", written.format(script.name if written.startswith(".") else script))
    found = find_compiler()
    assert found.command == (str(script), *more)
    assert found.name == "fake cc 1.0"


@pytest.mark.parametrize("value", ["no-such-compiler-here", "'unclosed"])
def test_a_wrong_cc_is_an_error_and_not_a_missing_compiler(value, monkeypatch):
    monkeypatch.setenv("CC", value)
    with pytest.raises(ToolchainError, match="CC=") as caught:
        find_compiler()
    assert not isinstance(caught.value, CompilerMissingError)


@pytest.mark.parametrize("stub", ["", "no developer tools were found"])
def test_no_compiler_names_the_system_package(tmp_path, monkeypatch, stub):
    """Nor is one that only says what to install."""
    if stub:
        (tmp_path / "cc").write_text(f"#!/bin/sh\necho '{stub}'\nexit 1\n")
        (tmp_path / "cc").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, ZIG_PACKAGE, None)  # as if it were not installed
    with pytest.raises(CompilerMissingError, match=stub or "no C compiler found") as caught:
        find_compiler()
    assert compiler_module.compiler_packages() in str(caught.value)
    assert caught.value.exit_status == 4


def test_the_packaged_compiler_serves_where_the_system_has_none(tmp_path, monkeypatch):
    pytest.importorskip(ZIG_PACKAGE, reason="ziglang is not installed")
    assert find_compiler().command[0] in ("cc", "gcc", "clang")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = find_compiler()
    assert found.command[-2:] == ("cc", "-mcpu=baseline")
    assert "clang" in found.name
    widths = [version.width for version in found.versions("baseline")]
    assert widths == [2]  # not what this processor has beyond all of its kind


@pytest.mark.parametrize("arguments", ["", " -mcpu=x86_64_v2"])
def test_zig_is_told_which_processor(arguments, tmp_path, monkeypatch):
    script = tmp_path / "zig"
    script.write_text("#!/bin/sh\necho 'clang version 22.1.8'\n")
    script.chmod(0o755)
    monkeypatch.setenv("CC", f"{script} cc{arguments}")
    expected = arguments.strip() or "-mcpu=baseline"
    assert find_compiler().command == (str(script), "cc", expected)


def test_a_compiler_that_never_answers_is_given_up(fake_compiler, monkeypatch):
    script = fake_compiler("exit 0")
    script.write_text("#!/bin/sh\nsleep 600\n")
    monkeypatch.setattr(compiler_module, "ANSWER_SECONDS", 0.3)
    with pytest.raises(ToolchainError, match="no answer within"):
        find_compiler()


def test_flags_are_those_that_were_measured(listed_features):
    found = find_compiler()
    portable = found.compile_command("a.c", "a.o", flags="portable", includes=["inc"])
    native = found.compile_command("a.c", "a.o", flags="native")
    for flag in ("-O2", "-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros"):
        assert flag in portable
    assert "-ffp-contract=fast" in portable
    assert "-std=c99" in portable
    assert "-Iinc" in portable
    assert "-ffast-math" not in native
    assert "-march=native" not in portable
    assert "-march=native" in native
    assert found.processor("portable") == "" and "#define" in found.processor("native")


@pytest.mark.parametrize("known", ["-march=native", "-mcpu=native", "neither"])
def test_every_compiler_is_asked_in_its_own_words_for_native_code(
    known, fake_compiler, listed_features
):
    refuse = f'case "$*" in *native*) case "$*" in *{known}*) ;; *) exit 1;; esac;; esac\n'
    fake_compiler(f"{refuse}echo '#define __GNUC__ 12'\necho '#define __x86_64__ 1'")
    found = find_compiler()
    asked = [option for option in found.options("native") if "native" in option]
    assert asked == ([known] if known != "neither" else [])
    widths = [version.width for version in found.versions("native")]
    assert widths == ([2] if known != "neither" else [1, 4, 8])  # else as portable code


@pytest.mark.parametrize(("body", "quick"), [
    ("echo '#define __GNUC__ 1'", True),
    ("echo '#define __GNUC__ 1'; echo '#define __clang__ 1'", False),
    ("case \"$*\" in *-fno-dse*) exit 1;; esac; echo '#define __GNUC__ 5'", False),
])  # fmt: skip
def test_passes_are_left_out_of_those_gcc_that_have_them(body, quick, fake_compiler):
    fake_compiler(body)
    assert ("-fno-tree-dse" in find_compiler().kernel_options) == quick


def test_features_that_a_package_checks_before_it_loads_a_binary():
    found = find_compiler()
    assert found.cpu_features("portable") == ()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists() and " avx2 " in cpuinfo.read_text():
        assert "avx2" in found.cpu_features("native")


def test_features_have_the_names_of_linux(fake_compiler, listed_features):
    more = " ".join(["__AVX512VNNI__", "__BMI__", "__PCLMUL__", "__SSE4_1__", "__LZCNT__"])
    native = f'case "$*" in *native*) for m in {more}; do echo "#define $m 1"; done;; esac\n'
    fake_compiler(f"echo '#define __x86_64__ 1'\necho '#define __SSE2__ 1'\n{native}")
    listed_features += ["ibrs", "avx512_vnni", "bmi1", "pclmulqdq", "sse4_1", "abm", "aes"]
    used = ("abm", "avx512_vnni", "bmi1", "pclmulqdq", "sse4_1")
    assert find_compiler().cpu_features("native") == used


def test_on_arm_every_feature_counts(fake_compiler, listed_features):
    fake_compiler("echo '#define __aarch64__ 1'\necho '#define __ARM_FEATURE_DOTPROD 1'")
    listed_features[:] = ["sve", "asimddp"]
    assert find_compiler().cpu_features("native") == ("asimddp", "sve")


def test_native_code_is_portable_where_a_package_could_not_check_the_processor(listed_features):
    listed_features.clear()
    found = find_compiler()
    assert found.versions("native") == found.versions("portable")
    assert found.options("native") == found.options("portable")
    assert found.processor("native") == ""


def test_unknown_flags_are_the_users_fault():
    with pytest.raises(RequestError, match="native, portable"):
        check_flag_set("fast")


def test_missing_python_headers_name_the_system_package(tmp_path, monkeypatch):
    empty = {"include": str(tmp_path), "platinclude": str(tmp_path)}
    monkeypatch.setattr(sysconfig, "get_paths", lambda: empty)
    with pytest.raises(ToolchainError, match=r"no Python\.h") as caught:
        include_folders()
    assert compiler_module.header_packages() in str(caught.value)
