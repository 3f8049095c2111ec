"""Benchmarks: what is faster than what, reproducible with one command each."""
