"""One way a file to see which lines are executed."""
