"""Commands, and their options, exit status, JSON, shell completion and output."""
