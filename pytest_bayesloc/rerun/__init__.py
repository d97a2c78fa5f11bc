"""Where a re-run happens: in a fork of a warm pytest, or in a fresh one."""
