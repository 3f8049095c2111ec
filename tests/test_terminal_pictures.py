"""The pictures of terminals in the documents: from real runs, and nothing but themselves."""

from xml.etree import ElementTree

import pytest

from benchmarks.terminal_pictures import FOLDER, PICTURES, screen, svg
from tests.choosing import some_slow

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
