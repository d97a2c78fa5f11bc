"""Ways to see which lines are executed: one collector a module."""
