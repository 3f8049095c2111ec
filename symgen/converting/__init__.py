"""Model files that symgen writes: `symgen new` and `symgen convert`."""
