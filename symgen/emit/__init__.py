"""Emission of source code: see `symgen.emit.emission`."""
