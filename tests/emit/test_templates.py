"""Templates: shipped, replaceable, and strict about names."""

import subprocess
import sys

import jinja2
import pytest

from symgen.emit import templates
from symgen.emit.templates import Templates
from symgen.errors import RequestError


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(NotADirectoryError, match="nowhere"):
        Templates(tmp_path / "nowhere")


def test_a_missing_template_is_an_error():
    with pytest.raises(RequestError, match="c/nothing"):
        Templates().render("c/nothing")
    with pytest.raises(FileNotFoundError):
        Templates().source("c/nothing")
    assert (names := Templates().names()) == sorted(names)


def test_what_one_process_has_compiled_serves_others(monkeypatch):
    program = (
        "import sys; from symgen.emit.templates import Templates, compiled\n"
        "Templates().render('c/lines.c'); sys.stdout.buffer.write(compiled())"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    monkeypatch.setattr(templates, "_COMPILED", templates._Compiled())
    templates._shipped_alone.cache_clear()
    try:
        templates.use_compiled(answer.stdout)
        with monkeypatch.context() as patched:
            patched.setattr(jinja2.Environment, "compile", None)
            Templates().render("c/lines.c")
        assert templates.compiled() is None
        with monkeypatch.context() as patched:  # of another text it is not the code
            patched.setattr(Templates, "source", lambda self, name: "another text\n")
            templates._shipped_alone.cache_clear()
            assert Templates().render("c/lines.c") == "another text\n"
        assert templates.compiled() is not None
    finally:
        templates._shipped_alone.cache_clear()
