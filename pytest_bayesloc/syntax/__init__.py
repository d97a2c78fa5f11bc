"""Questions about Python code, asked of its syntax tree, and edits of its text."""
