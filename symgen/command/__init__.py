"""What commands share: options, exit status and JSON, shell completion, the terminal."""
