"""Templates of the generated files; `symgen.emit.templates` finds and fills them."""
