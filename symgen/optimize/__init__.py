"""Passes over programs: folding, dead code, ordering, operation counts."""
