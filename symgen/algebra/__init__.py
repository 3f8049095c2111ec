"""Scalars, vectors and matrices: the hash-consed graph, and SymPy behind the same interface."""
