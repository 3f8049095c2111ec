"""Formulas as MathML, which browsers show without a script, a font or a stylesheet of their own."""

from __future__ import annotations

from typing import Any

from docutils.nodes import SkipNode, math, math_block

from symgen.page.mathml import mathml


def set_formula(latex: str, block: bool = False) -> str:
    """The formula `latex` as MathML; ValueError where a part of it is not understood."""
    text = mathml(latex, block)
    if "\\" in text or ">&<" in text:
        raise ValueError(f"no MathML for {latex}")
    return text


def inline(writer: Any, node: math) -> None:
    """Sphinx: write a formula within a line."""
    writer.body.append(set_formula(node.astext()))
    raise SkipNode


def block(writer: Any, node: math_block) -> None:
    """Sphinx: write a formula that stands by itself; where it is too wide it scrolls."""
    formula = set_formula(node.astext(), block=True)
    writer.body.append(f'<div class="formula" tabindex="0">{formula}</div>')
    raise SkipNode
