"""`symgen compare`: formulations side by side, for one robot or over a family of robots."""
