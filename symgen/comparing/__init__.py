"""`symgen compare`: formulations side by side, for one robot or for families of robots."""
