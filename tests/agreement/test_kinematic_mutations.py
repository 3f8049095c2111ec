"""A wrong frame in a joint makes the validation fail: mutations inside `symgen.kinematics`."""

import random
from dataclasses import replace

import pytest

from symgen.algebra.graph import Graph
from symgen.algebra.linear import Matrix, Transform, Vector
from symgen.formulations import FORMULATIONS, derive, provided_functions
from symgen.kinematics.tree import build_tree
from symgen.optimize.folding import fold
from symgen.validation.evaluated import evaluated_subjects
from symgen.validation.validate import validate
from tests.choosing import one_in
from tests.oracles.descriptions import described
from tests.oracles.random_models import Recipe, seeded_model_text

SMALL = Recipe(joints=(2, 4), types=("revolute", "prismatic"), loads=(1, 1), massless=False)


def flipped(transform, position):
    """One entry of the rotation or translation with the wrong sign, None where it is zero."""
    entries = [*transform.rotation.entries, *transform.translation]
    if entries[position].is_zero:
        return None
    entries[position] = -entries[position]
    return Transform(Matrix([entries[0:3], entries[3:6], entries[6:9]]), Vector(*entries[9:12]))


def mutant(tree, rng):
    """The tree with one fixed transform, axis or centre wrong, None where that changes nothing."""
    i = rng.randrange(tree.n)
    joint = tree.joints[i]
    at = joint.placement
    kind = rng.choice(["tree", "link", "axis", "offset", "swapped", "com"])
    if kind == "com":
        body = replace(joint.body, com=-joint.body.com)
        changed = replace(joint, body=body)
    else:
        if kind in ("tree", "link"):
            wrong = flipped(getattr(at, kind), rng.randrange(12))
            if wrong is None:
                return None
            at = replace(at, **{kind: wrong})
        elif kind == "axis":
            at = replace(at, axis=-at.axis)
        elif kind == "offset":
            at = replace(at, offset=at.offset + 0.25)
        else:
            at = replace(at, tree=at.link, link=at.tree)
        changed = replace(joint, placement=at)
    joints = (*tree.joints[:i], changed, *tree.joints[i + 1 :])
    return replace(tree, joints=joints), kind


def programs(description, tree):
    return {
        formulation.name: {
            function: fold(derive(tree, formulation, function), description.parameter_values)
            for function in provided_functions(formulation)
        }
        for formulation in FORMULATIONS
    }


def entries(tree):
    return [
        (
            joint.number,
            [e for t in (joint.placement.tree, joint.placement.link)
             for e in (*t.rotation.entries, *t.translation)],
        )
        for joint in tree.joints
    ]  # fmt: skip


@pytest.mark.parametrize("seed", one_in(30, range(60)))
def test_a_wrong_frame_is_found(seed):
    rng = random.Random(seed)
    while True:
        description = described(seeded_model_text(rng.randrange(10_000), SMALL))
        made = mutant(build_tree(description, Graph()), rng)
        if made is None:
            continue
        tree, kind = made
        if kind == "swapped" and entries(tree) == entries(build_tree(description, tree.algebra)):
            continue
        if kind == "com" and all(part.is_zero for part in tree.joints[0].body.com):
            continue
        result = validate(description, evaluated_subjects(programs(description, tree)))
        assert not result.passed, kind
        return


def test_the_right_frames_pass():
    description = described(seeded_model_text(5, SMALL))
    tree = build_tree(description, Graph())
    assert validate(description, evaluated_subjects(programs(description, tree))).passed
