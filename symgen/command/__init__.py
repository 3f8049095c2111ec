"""What commands share: their options, how they end, what shells complete."""
