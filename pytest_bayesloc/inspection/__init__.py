"""The loop: select a suspect, propose a patch, re-run, reflect, update, stop."""
