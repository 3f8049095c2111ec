"""`symgen.animate`: which motions it takes, and what the page holds."""

import base64
import json
import re
import zlib

import numpy as np
import pytest

import symgen
from symgen.errors import RequestError
from symgen.page.animation import FRAMES_PER_SECOND
from tests.modules import module
from tests.page.test_page import EXAMPLES, outline


@pytest.fixture(scope="module")
def arm():
    functions = "forward_kinematics,point_motion,forward_dynamics,inverse_dynamics"
    return module(EXAMPLES / "two_link.yaml", functions=functions)


def packed(text, name):
    content = re.search(f'<script type="text/plain" id="{name}">(.*?)</script>', text)[1]
    return np.frombuffer(zlib.decompress(base64.b64decode(content)), dtype="<f4")


@pytest.mark.slow
def test_it_holds_the_poses_of_a_simulated_motion(arm, tmp_path):
    run = symgen.simulate(arm, [0.3, 0.5], [0, 0], np.linspace(0, 1, 601))
    text = symgen.animate(arm, run, tmp_path / "a.html").read_text(encoding="utf-8")
    outline(text)
    facts = json.loads(re.search(r'id="player">(.*?)</script>', text)[1])
    assert facts["frames"] == FRAMES_PER_SECOND + 1
    assert [curve["name"] for curve in facts["curves"]] == ["q", "tau"]
    assert [link["parent"] for link in facts["links"]] == [-1, 0]
    poses = packed(text, "poses").reshape(facts["frames"], 2, 3, 4)
    expected = arm.forward_kinematics(run["q"].values[::10])[:, :, :3, :]
    np.testing.assert_allclose(poses, expected, atol=1e-6)
    places = packed(text, "places").reshape(facts["frames"], arm.n_points, 3)
    np.testing.assert_allclose(places[:, 0], expected[:, 1, :, 3], atol=1e-6)  # the hand is there


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (([0, 1], [[0, 0], [1, 1], [2, 2]]), "found (2,) and (3, 2)"),
        (([0, 1], [[0], [1]]), "q (samples, 2)"),
        (([0], [[0, 0]]), "at least 2 samples"),
        (([0, 0], [[0, 0], [1, 1]]), "times must increase"),
        (([0, 1], [[0, 0], [np.nan, 1]]), "finite"),
        ("motion", "found str"),
    ],
)
def test_what_is_no_motion_is_told(arm, tmp_path, run, words):
    with pytest.raises(RequestError, match=re.escape(words)):
        symgen.animate(arm, run, tmp_path / "a.html")
    assert not list(tmp_path.iterdir())


def test_a_title_is_text(arm, tmp_path):
    run = np.linspace(0, 1, 5), np.zeros((5, 2))
    text = symgen.animate(arm, run, tmp_path / "a.html", title="<b>&").read_text(encoding="utf-8")
    assert "<h1>&lt;b&gt;&amp;</h1>" in text
