"""What a run found, drawn for a terminal, a browser and other programs."""
