"""Suggestions: what is near is named, what is far-fetched is not."""

import pytest

from symgen.support.suggestions import nearest

FUNCTIONS = ("sqrt", "sin", "cos", "asin", "acos", "log")
ROW = ("theta", "d", "a", "alpha")


@pytest.mark.parametrize(("word", "known", "meant"), [
    ("cosine", FUNCTIONS, "cos"),  # as near to sin as to cos, but for its beginning
    ("Cosinus", FUNCTIONS, "cos"),
    ("arccos", FUNCTIONS, "acos"),
    ("logarithm", FUNCTIONS, "log"),
    ("thet", ROW, "theta"),
    ("Theta", ROW, "theta"),
    ("beta", ROW, None),
    ("angle", ROW, None),
    ("delta", ROW, None),
    ("grav", ("gravity", "name"), "gravity"),
    ("ixx", ("xx", "yy"), "xx"),
    ("left_elbwo", ("left", "left_elbow", "left_elm"), "left_elbow"),
    ("forearmm", ("for", "forearm"), "forearm"),
    ("", ROW, None),
])  # fmt: skip
def test_nearest(word, known, meant):
    assert nearest(word, known) == meant
