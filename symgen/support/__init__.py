"""What every part may use: what long work tells, misspelt words, the garbage collector."""
