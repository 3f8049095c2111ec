"""Programs with one mistake in them, of the kinds that people make."""

from __future__ import annotations

from dataclasses import replace

from symgen.algebra.nodes import ADD, ARITHMETIC, CONST, DIV, MUL, NEG, SUB, SYMBOL, reachable
from symgen.program.program import Statement, Step


def with_changed_sign(graph, node, args):
    return None if node.op is NEG else graph.neg(rebuilt(graph, node, args))


def with_swapped_operands(graph, node, args):
    return rebuilt(graph, node, args[::-1]) if node.op in (SUB, DIV) else None


def with_another_operator(graph, node, args):
    other = {ADD: SUB, SUB: ADD, "sin": "cos", "cos": "sin"}.get(node.op)
    return None if other is None else apply(graph, other, args)


def without_first_operand(graph, node, args):
    return args[1] if node.op in (ADD, MUL) else graph.neg(args[1]) if node.op is SUB else None


def without_last_operand(graph, node, args):
    return args[0] if node.op in (ADD, SUB, MUL, DIV) else None


MUTATIONS = (
    with_changed_sign, with_swapped_operands, with_another_operator, without_first_operand,
    without_last_operand,
)  # fmt: skip


def apply(graph, op, args):
    operations = {ADD: graph.add, SUB: graph.sub, MUL: graph.mul, DIV: graph.div, NEG: graph.neg}
    return operations[op](*args) if op in ARITHMETIC else graph.function(op, *args)


def rebuilt(graph, node, args):
    return apply(graph, node.op, args)


def mutant(program, rng):
    """`program` with one node of one statement changed, and the statement: (program, step, line).

    The node belongs to no earlier statement, so the statement is the first that is wrong."""
    lines = [(step, line) for step in program.steps for line in step.statements]
    while True:
        number = int(rng.integers(len(lines)))
        step, line = lines[number]
        earlier = {x.index for x in reachable(earlier.value for _, earlier in lines[:number])}
        own = [x for x in reachable([line.value]) if x.index not in earlier and x.args]
        if own:
            node = own[int(rng.integers(len(own)))]
            mutation = MUTATIONS[int(rng.integers(len(MUTATIONS)))]
            changed = with_node_changed(program, node, mutation)
            if changed is not None:
                return changed, step, line


def with_node_changed(program, target, mutation):
    """The program over the same graph, with `mutation` applied to the node `target`."""
    graph = target.graph
    wanted = [*(line.value for line in program.statements), *program.results]
    new = {}
    for node in reachable(wanted):
        args = [new[arg.index] for arg in node.args]
        if node.op is CONST or node.op is SYMBOL:
            new[node.index] = node
        elif node is target:
            new[node.index] = mutation(graph, node, args)
            if new[node.index] is None:
                return None
        else:
            new[node.index] = rebuilt(graph, node, args)
    steps = []
    for step in program.steps:
        lines = tuple(Statement(x.name, new[x.value.index], x.note) for x in step.statements)
        steps.append(Step(step.kind, step.joint, lines))
    outputs = tuple(
        replace(output, entries=tuple(new[entry.index] for entry in output.entries))
        for output in program.outputs
    )
    return replace(program, steps=tuple(steps), outputs=outputs)
