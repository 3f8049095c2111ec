"""Shared helpers: progress and notices, misspelt words, garbage collection, threads."""
