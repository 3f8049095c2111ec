"""The Coriolis matrix, of which there are many: any C with C qd right is.

Row by row the student's C_i1 qd_1 + C_i2 qd_2 + ... is compared with the velocity-product terms
h_i.  A row that is not whole can only be compared with the Christoffel matrix.  Only that one is
sure to make dM/dt - 2 C skew-symmetric, which controllers rely on: where a whole matrix is right
and does not, a remark says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from symgen.grading.quantities import COUPLED, PRODUCTS, QUANTITIES
from symgen.grading.questions import Question, Questions
from symgen.grading.verdict import Graded

Expr = Any
NOT_CHRISTOFFEL = "C qd is right; this is not the Christoffel matrix"
NOT_SKEW = f"{NOT_CHRISTOFFEL}, and dM/dt - 2 C is not skew-symmetric"
ROW_IS_NEEDED = (
    "not that of the Christoffel matrix; with the whole row any C with C qd right is accepted"
)


def judged(
    is_right: Callable[[Question], bool], asked: Questions, rows: Sequence[Graded]
) -> list[Graded]:
    """The verdicts `rows` on the questions of `asked`, those on entries of C by whole rows."""
    found = list(rows)
    entries = {
        question.assignment.index: place
        for place, question in enumerate(asked.questions)
        if question.assignment.name == COUPLED
    }
    if all(rows[place].right for place in entries.values()):
        return found
    n = asked.truth.coordinates
    whole = [i for i in range(1, n + 1) if all((i, k) in entries for k in range(1, n + 1))]
    matrix = {index: asked.questions[place].answer for index, place in entries.items()}
    right = [i for i in whole if is_right(_products(asked, matrix, i))]
    skew = len(right) == n and _is_skew(is_right, asked, matrix)
    for (i, _), place in entries.items():
        if i in right:
            remark = NOT_CHRISTOFFEL if skew or len(right) < n else NOT_SKEW
            same = all(rows[entries[i, k]].right for k in range(1, n + 1))
            remark = "" if same else remark
            found[place] = replace(found[place], right=True, wrong="", slip="", remark=remark)
        elif i not in whole and not found[place].right:
            found[place] = replace(found[place], remark=ROW_IS_NEEDED)
    return found


def _question(asked: Questions, name: str, index: tuple[int, ...], answer: Expr) -> Question:
    """A question of our own about an entry."""
    (first, *_) = asked.questions
    quantity = QUANTITIES[name]
    program = asked.truth.program(quantity.function)
    place = 0
    for i, size in zip(index, quantity.output(program).shape, strict=True):
        place = place * size + i - 1
    assignment = replace(first.assignment, name=name, index=index)
    return Question(assignment, answer, program, place)


def _products(asked: Questions, matrix: Mapping[tuple[int, ...], Expr], i: int) -> Question:
    """C_i1 qd_1 + C_i2 qd_2 + ..., which is to be h_i."""
    rates = asked.coordinates()
    answer = sum(matrix[i, k] * rates[f"qd{k}"] for k in range(1, asked.truth.coordinates + 1))
    return _question(asked, PRODUCTS, (i,), answer)


def _is_skew(
    is_right: Callable[[Question], bool], asked: Questions, matrix: Mapping[tuple[int, ...], Expr]
) -> bool:
    """Whether C + C^T is dM/dt, as it is of the Christoffel matrix: C differs by a skew matrix.

    Entry by entry C_ij is to be (Christoffel)_ij + (Christoffel)_ji - C_ji.
    """
    n = asked.truth.coordinates
    output = QUANTITIES[COUPLED].output(asked.truth.program(QUANTITIES[COUPLED].function))
    for i in range(1, n + 1):
        for k in range(i, n + 1):
            mirrored = output.entries[(k - 1) * n + i - 1]
            answer = matrix[i, k] + matrix[k, i] - mirrored
            if not is_right(_question(asked, COUPLED, (i, k), answer)):
                return False
    return True
