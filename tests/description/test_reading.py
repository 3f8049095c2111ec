"""YAML files: lines, duplicates, and everything that a stranger could send."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from symgen.description.checks import read_document
from symgen.description.reading import MAX_BYTES, MAX_WEIGHT, Document, Listing, Scalar, compose
from symgen.errors import ModelError
from tests.choosing import some_slow
from tests.description.reports import rows


def messages(text: str) -> list[str]:
    """The faults of a text: those that end the reading, and those that do not."""
    try:
        document = compose(text, "robot.yaml")
    except ModelError as error:
        faults = str(error).splitlines()
    else:
        faults = [str(fault) for fault in document.faults]
    return [fault.removeprefix("robot.yaml:") for fault in faults]


SAMPLE = """\
# a comment
name: x
joints:
  - name: a
    dh: {theta: 0,
         d: 1}
  -
    name: b
    link:

      com:
        - 0
        - 1
"""


@pytest.mark.parametrize(("path", "line"), [
    (("name",), 2),
    (("joints",), 3),
    (("joints", 0), 4),
    (("joints", 0, "dh"), 5),
    (("joints", 0, "dh", "d"), 6),
    (("joints", 1), 8),
    (("joints", 1, "link"), 9),
    (("joints", 1, "link", "com"), 11),
    (("joints", 1, "link", "com", 1), 13),
    (("joints", 1, "link", "mass"), 9),  # not there: the line of what should hold it
    (("joints", 7, "link"), 3),
])  # fmt: skip
def test_every_key_and_item_has_its_line(path: tuple[str | int, ...], line: int) -> None:
    assert compose(SAMPLE, "robot.yaml").line(path) == line


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "robot.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
    assert read_document(path).line(("b",)) == 2


@pytest.mark.parametrize(("text", "expected"), [
    ("1", "int"), ("-12", "int"), ("0x1F", "int"), ("0o17", "int"), ("010", "int"),
    ("1.5", "float"), (".5", "float"), ("5.", "float"), ("1e-3", "float"), (".inf", "float"),
    ("true", "bool"), ("False", "bool"), ("~", "null"), ("null", "null"), ("", "null"),
    ("yes", "text"), ("off", "text"), ("y", "text"), ("1_000", "text"), ("12:30", "text"),
    ("2*pi", "text"), ("'1'", "text"), ('"true"', "text"), ("2001-01-01", "text"),
])  # fmt: skip
def test_plain_values_are_those_of_the_core_schema(text: str, expected: str) -> None:
    value = compose(f"a: {text}\n", "robot.yaml").root.entries["a"].value
    assert value.kind == expected


def test_a_harmless_alias_is_expanded() -> None:
    document = compose("a: &x [1, 2]\nb: *x\n", "robot.yaml")
    assert document.root.entries["b"].value == document.root.entries["a"].value
    assert document.line(("b",)) == 2


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
TOO_MANY = (
    f"more than {MAX_WEIGHT} values (aliases are expanded, long texts count more); "
    "no robot is that large"
)
NOT_ALLOWED = (
    "malformed YAML: a ':' that no key stands before (texts with a ':' need quotes), or an "
    "indentation that does not fit the line before"
)

WRONG = {
    "": " the file is empty; a model starts with 'symgen: 1'",
    "---\n": " the file is empty; a model starts with 'symgen: 1'",
    "a: 1\n---\nb: 2\n": "2: a second YAML document starts here; a model is one document",
    "joints:\n- link:\n    mass: 1\n    mass: 2\n":
        "4: joints[1].link.mass: this key stands twice, first in line 3; remove one of them",
    "1: x\nnull: y\n? [a]\n: z\n":
        "1: the key '1' is not a text; keys are names\n"
        "2: the key 'null' is not a text; keys are names\n"
        "3: this key is not a text; keys are names",
    "a:\n  b: !x 1\n": "2: a.b: the YAML tag '!x' is not allowed; write the plain value",
    f"a: !{'x' * 5000} 1\n": "1: malformed YAML: a tag of more than 200 characters",
    "joints:\n- name elbow\n  type: fixed\n": "3: malformed YAML: a ':' is missing in line 2",
    "parameters:\n  L:0.5\n  m: 1\n": "3: malformed YAML: a space is missing after ':' in line 2",
    "a: 1\n  b: 2\n": f"2: {NOT_ALLOWED}",
    "a: 1\nb: \0\n": "2: a control character is not allowed in YAML",
    'a: "\\ud800"\n': "1: an escape such as \\ud800 is half a character",
    "a: *b\n": "1: the alias '*b' names no anchor that is complete before it",
    "a: &a [*a]\n": "1: the alias '*a' names no anchor that is complete before it",
    "%YAML 1.1\n---\na: 1\n": "2: model files are YAML 1.2; remove the %YAML line",
    BOMB: f"5: {TOO_MANY}",
    "a: [" + "1," * 150_000 + "]": f"1: {TOO_MANY}",
    "[" * 100_000: "1: nested deeper than 32 levels",
    "{a: " * 100_000: "1: nested deeper than 32 levels",
    "".join(" " * i + "a:\n" for i in range(1000)): "33: nested deeper than 32 levels",
    "a: &a [1]\n" + "".join(f"a{i}: &a [*a]\n" for i in range(40)):
        "32: aliases nest deeper than 32 levels",
}  # fmt: skip

QUICK = [row for row in rows(WRONG) if len(row.values[0]) < 90_000]


@pytest.mark.parametrize(("text", "report"), some_slow(rows(WRONG), QUICK))
def test_wrong_texts(text: str, report: str) -> None:
    assert messages(text) == report.split("\n")


def test_faults_before_a_syntax_error_are_reported_with_it() -> None:
    assert messages("a: 1\na: 2\nb: [\n") == [
        "2: a: this key stands twice, first in line 1; remove one of them",
        "4: malformed YAML: expected the node content, but found '<stream end>' "
        "(while parsing a flow node that starts in line 4)",
    ]


def fault_of(path: Path | str) -> str:
    with pytest.raises(ModelError) as caught:
        read_document(path)
    assert caught.value.exit_status == 2
    return str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    missing = tmp_path / "missing.yaml"
    assert fault_of(missing) == f"{missing}: there is no such file"
    assert fault_of(tmp_path).startswith(f"{tmp_path}: this is a directory; expected")
    assert "null" in fault_of("a\0b.yaml")
    assert fault_of("x" * 5000) == f"{'x' * 5000}: cannot be read: File name too long"


def test_a_file_that_lacks_its_ending(folder: Path) -> None:
    Path("arm.yaml").touch()
    Path("leg.yml").touch()
    Path("leg").mkdir()
    assert fault_of("arm") == "arm: there is no such file; did you mean 'arm.yaml'?"
    assert fault_of("arm.yml") == "arm.yml: there is no such file; did you mean 'arm.yaml'?"
    assert fault_of("leg") == "leg: this is a directory; did you mean 'leg.yml'?"
    assert fault_of("foot.yaml") == "foot.yaml: there is no such file"
    assert fault_of("x" * 252).endswith(": there is no such file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    assert "not a regular file" in fault_of(pipe)


@pytest.mark.parametrize(("content", "message"), [
    ("a: 1\n".encode("utf-16"), ":1: not UTF-8; save the file in the encoding UTF-8"),
    (b"#" * (MAX_BYTES + 1), ": larger than 4 MiB, the limit of such a file"),
], ids=["utf-16", "large"])  # fmt: skip
def test_files_that_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "robot.yaml"
    path.write_bytes(content)
    assert fault_of(path) == f"{path}{message}"


def test_the_name_of_the_file_is_as_given(folder: Path) -> None:
    Path("robot.yaml").write_text("- 1\n")
    document = read_document("robot.yaml")
    assert document == Document("robot.yaml", Listing((Scalar("1", "int", 1),), 1), ())
