"""Real bugs from public histories: mined, measured, and fitted on."""
