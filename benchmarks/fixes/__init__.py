"""How often a fix is found, and how often it is the right one."""
