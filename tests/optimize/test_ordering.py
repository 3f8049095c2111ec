"""The order of assignments: complete, in the order of the recursion, readable, linear."""

from __future__ import annotations

import time

import pytest

from symgen.algebra.graph import Graph
from symgen.optimize import ordering
from symgen.optimize.ordering import Assignment, Schedule, schedule
from symgen.program.builder import ProgramBuilder
from symgen.program.program import Program
from tests.choosing import deep, slow
from tests.emit.samples import random_package


def written(result: Schedule) -> list[str]:
    """The lines in short: names, and stores as ``array[position]``."""
    return [
        line.name if isinstance(line, Assignment) else f"{line.output}[{line.position}]"
        for line in result.lines
    ]


def small() -> tuple[Graph, ProgramBuilder]:
    graph = Graph()
    return graph, ProgramBuilder(graph)


def finish(builder: ProgramBuilder, *entries) -> Program:
    builder.output("tau", (len(entries),), entries)
    return builder.build("robot", "formulation", "inverse_dynamics", {"N-1": "a note"})


def check_complete(result: Schedule) -> None:
    """Everything is defined before it is used, once, and every output is stored once."""
    defined = {s.index for declared in result.program.inputs for s in declared.symbols}
    stored = set()
    for line in result.lines:
        for leaf in result.leaves(line):
            assert leaf.index in defined
        if isinstance(line, Assignment):
            assert line.value.index not in defined
            defined.add(line.value.index)
        else:
            assert (line.output, line.position) not in stored
            stored.add((line.output, line.position))
    for output in result.program.outputs:
        zeros = result.zeros[output.name]
        assert all(output.entries[position].is_zero for position in zeros)
        stored.update((output.name, position) for position in zeros)
    expected = {(o.name, i) for o in result.program.outputs for i in range(len(o.entries))}
    assert stored == expected
    names = [line.name for line in result.lines if isinstance(line, Assignment)]
    assert len(names) == len(set(names))


def test_what_is_not_needed_vanishes() -> None:
    graph, b = small()
    x, y = b.input("q", (2,), ["x", "y"])
    with b.step("forward"):
        b.let("dead", graph.function("sin", y), "N-1")
        b.let("constant", graph.constant(2.0), "N-1")
        b.let("bare", -x, "N-1")
        kept = b.let("kept", x * y, "N-1")
        b.let("again", x * y, "N-1")
    assert written(schedule(finish(b, kept, kept + x))) == ["kept", "tau[0]", "tau[1]"]


def test_a_name_that_comes_later_is_used_already() -> None:
    graph, b = small()
    x, y = b.input("q", (2,), ["x", "y"])
    product = x * y
    with b.step("forward"):
        first = b.let("first", graph.function("exp", product), "N-1")
    with b.step("backward"):
        b.let("later", product, "N-1")
    result = schedule(finish(b, first, product))
    assert written(result) == ["later", "tau[1]", "first", "tau[0]"]
    assert [section.kind for section in result.sections] == ["forward"]


def test_sines_and_cosines_of_arguments_come_first() -> None:
    graph, b = small()
    x, y = b.input("q", (2,), ["x", "y"])
    with b.step("forward"):
        product = b.let("product", x * y, "N-1")
        sine = b.let("sine", graph.function("sin", x + y), "N-2")
        nested = b.let("nested", graph.function("cos", sine), "N-3")
    result = schedule(finish(b, product, nested, graph.function("cos", x + y)))
    assert written(result) == [
        *("t1", "sine", "t2", "tau[2]"),
        *("product", "tau[0]", "nested", "tau[1]"),
    ]
    assert [section.kind for section in result.sections] == ["angles", "forward"]
    check_complete(result)


def test_constants_symbols_and_zeros_come_last() -> None:
    graph, b = small()
    x, _ = b.input("q", (2,), ["x", "y"])
    result = schedule(finish(b, graph.zero, graph.one, x, -x, x * x))
    assert written(result) == ["tau[4]", "tau[1]", "tau[2]", "tau[3]"]
    assert result.zeros == {"tau": (0,)}
    check_complete(result)


def test_names_of_temporaries_avoid_names_of_the_program() -> None:
    graph, b = small()
    x, y = b.input("q", (2,), ["t1", "y"])
    with b.step("forward"):
        t3 = b.let("t3", x * y, "N-1")
    shared = graph.function("sin", t3)
    result = schedule(finish(b, shared * x, shared * y, shared))
    assert [line.name for line in result.lines if isinstance(line, Assignment)] == ["t3", "t2"]


def test_lines_stay_readable() -> None:
    graph, b = small()
    symbols = b.input("q", (60,), [f"a_rather_long_name_{i}" for i in range(60)])
    total = symbols[0]
    for symbol in symbols[1:]:
        total = total + symbol
    result = schedule(finish(b, total, graph.function("sin", total)))
    check_complete(result)
    for line in result.lines:
        leaves = result.leaves(line)
        assert len(leaves) <= ordering.MAX_OPERATIONS + 1
        assert sum(len(result.names[leaf.index]) for leaf in leaves) <= ordering.MAX_CHARACTERS


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_are_complete(seed: int) -> None:
    for forms in random_package(seed, 120).programs["newton_euler"].values():
        program = forms.straight
        check_complete(schedule(program))


def test_a_program_without_entries() -> None:
    _, b = small()
    result = schedule(finish(b))
    assert result.sections == () and result.zeros == {"tau": ()}


@pytest.mark.parametrize("shape", [*slow("tower"), *deep("chain")])
def test_long_and_deep_programs_take_linear_time(shape: str) -> None:
    graph, b = small()
    x, y = b.input("q", (2,), ["x", "y"])
    value = x
    for i in range(100_000):
        value = graph.function("sin", value) if shape == "tower" else value * x + (i % 7 + 0.5) * y
    start = time.process_time()
    result = schedule(finish(b, value))
    seconds = time.process_time() - start
    check_complete(result)
    assert seconds < 20.0
