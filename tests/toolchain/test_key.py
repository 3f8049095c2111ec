"""What the digests cover, and what they leave out."""

import dataclasses

from symgen.emit.bundle import SourceBundle
from symgen.toolchain import compiler as compiler_module
from symgen.toolchain import key as key_module
from symgen.toolchain.compiler import Compiler, find_compiler
from symgen.toolchain.key import (
    build_key,
    digest_of,
    extension_digest,
    extension_module,
    folders_digest,
    own_folders,
    toolchain_key,
)
from tests.toolchain.sample import bundle


def test_where_a_part_ends_counts():
    assert digest_of("ab", "c") != digest_of("a", "bc")
    assert digest_of("a") == digest_of(b"a")


def test_own_folders_hold_sources_and_templates():
    folders = own_folders()
    assert (folders[0] / "toolchain" / "key.py").is_file()
    assert folders[-1].name in ("templates", "symgen")
    assert all(folder.is_dir() for folder in folders)


def test_an_edited_source_or_template_changes_the_digest(tmp_path):
    (tmp_path / "a.py").write_text("1")
    before = folders_digest((tmp_path,))
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("bytecode")
    assert folders_digest((tmp_path,)) == before
    (tmp_path / "a.py").write_text("2")
    edited = folders_digest((tmp_path,))
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert len({before, edited, folders_digest((tmp_path,))}) == 3


def test_the_build_key_covers_all_that_a_build_depends_on(listed_features, tmp_path, monkeypatch):
    compiler = find_compiler()
    other = Compiler(compiler.command, compiler.version + " patched")
    keys = [
        build_key("model", {"backend": "all"}, compiler, "portable"),
        build_key("model 2", {"backend": "all"}, compiler, "portable"),
        build_key("model", {"backend": "numpy"}, compiler, "portable"),
        build_key("model", {"backend": "all"}, other, "portable"),
        build_key("model", {"backend": "all"}, compiler, "native"),
        build_key("model", {"backend": "all"}, None, "portable"),
        build_key("model", {"backend": "all"}, compiler, "portable", {"c/header.h.jinja": "mine"}),
    ]
    monkeypatch.setattr(key_module, "own_folders", lambda: (tmp_path,))
    keys.append(build_key("model", {"backend": "all"}, compiler, "portable"))
    assert len(set(keys)) == len(keys)


def test_the_order_of_options_does_not_count_and_flags_do(listed_features):
    first = build_key("model", {"a": 1, "b": [2]}, None, "portable")
    assert first == build_key("model", {"b": [2], "a": 1}, None, "portable")
    made = [(find_compiler(), "portable"), (find_compiler(), "native"), (None, "portable")]
    assert len({toolchain_key(*given) for given in made}) == 3


def test_extension_digest_covers_what_reaches_the_compiler_and_nothing_else(listed_features):
    compiler = find_compiler()
    sources = bundle()
    extension = sources.extensions[0]

    def with_file(name, text):
        files = {**sources.files, name: text}
        return extension_digest(SourceBundle("sample", files), extension, compiler, "portable")

    plain = extension_digest(sources, extension, compiler, "portable")
    assert with_file("parts/first.py", "changed") == plain
    changed = [
        with_file("_compiled.pyx", "changed"),
        with_file("c/helper.c", "changed"),
        with_file("c/kernel.h", "changed"),
        extension_digest(sources, extension, compiler, "native"),
        extension_digest(
            sources, dataclasses.replace(extension, c_sources=("c/kernel.c",)), compiler, "portable"
        ),
    ]
    assert len({plain, *changed}) == 6
    assert extension_module(extension, plain) == f"_compiled_{plain[:12]}"


def test_kinds_of_machine_share_a_cache(listed_features, fake_compiler, tmp_path):
    """What is made for one of them is never taken for another's; portable code is for both."""
    common = "echo '#define __GNUC__ 12'; echo '#define __x86_64__ 1'"
    macros = tmp_path / "native"
    fake_compiler(f'{common}; case "$*" in *native*) cat {macros};; esac')
    sources = bundle()
    keys = []
    for features in ("__AVX2__", "__AVX512F__"):
        macros.write_text(f"#define {features} 1\n")
        compiler_module._predefined_macros.cache_clear()
        compiler = find_compiler()
        for flags in ("native", "portable"):
            of_model = build_key("model", {}, compiler, flags)
            of_extension = extension_digest(sources, sources.extensions[0], compiler, flags)
            keys.append((of_model, toolchain_key(compiler, flags), of_extension))
    native_1, portable_1, native_2, portable_2 = keys
    assert portable_1 == portable_2
    assert len({*native_1, *native_2, *portable_1}) == 9
