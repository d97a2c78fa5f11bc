"""Curves and prices for a shop that cuts shapes out of sheet material."""
