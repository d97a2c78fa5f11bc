"""The memory of bugs from run to run."""
