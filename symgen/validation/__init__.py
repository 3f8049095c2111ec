"""Validation: independent oracles, physical laws, and every tolerance in one file."""
