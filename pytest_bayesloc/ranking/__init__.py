"""Pure mathematics: from a spectrum and evidence to a belief and a ranking (docs/model.md)."""
