"""What each tool of the shelf does, and what it must leave alone: texts before and after."""
