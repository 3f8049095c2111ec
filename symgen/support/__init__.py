"""Helpers for every package: progress and notices, misspelt words, garbage collection."""
