"""Figures and pictures of the documents are those that the code gives."""

from xml.etree import ElementTree

import pytest

from benchmarks.marks import BEGIN, END
from benchmarks.operation_counts import DOCUMENT, table
from benchmarks.terminal_pictures import FOLDER, PICTURES, screen, svg
from symgen.comparing.growth import MAIN_FUNCTIONS
from tests.choosing import some_slow


@pytest.mark.parametrize("function", some_slow(MAIN_FUNCTIONS, ["inverse_dynamics"]))
def test_operation_counts(function):
    text = DOCUMENT.read_text()
    start = text.index(BEGIN.format(function)) + len(BEGIN.format(function))
    rows = text[start : text.index(END.format(function))].strip().split("\n")
    assert rows[:5] == table(function, range(1, 4))
    assert len(rows) == 14


# pictures of terminals: from real runs, and nothing but themselves

SAME_EVERY_TIME = ("errors", "grade", "new")  # the others tell seconds


def texts(picture):
    root = ElementTree.fromstring(picture)
    return "".join(x.text or "" for x in root.iter("{http://www.w3.org/2000/svg}text"))


def test_every_picture_is_there_and_asks_no_host_for_anything():
    assert sorted(path.stem for path in FOLDER.glob("*.svg")) == sorted(PICTURES)
    for name in PICTURES:
        picture = (FOLDER / f"{name}.svg").read_text()
        assert picture.replace("http://www.w3.org/2000/svg", "").count("//") == 0
        assert "@import" not in picture
        assert "url(http" not in picture
        assert "symgen" in texts(picture)
        assert "Traceback" not in texts(picture)


@pytest.mark.parametrize("name", some_slow(SAME_EVERY_TIME, ["new"]))
def test_a_picture_shows_what_the_commands_print_today(name, tmp_path):
    picture = PICTURES[name]
    again = svg(screen(picture, tmp_path), name, picture.width)
    assert texts(again) == texts((FOLDER / f"{name}.svg").read_text()), "make pictures"
