"""Re-runs of tests, in a fork of a warm pytest or in a fresh one."""
