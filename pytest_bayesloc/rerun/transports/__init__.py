"""Ways to start servers: one transport a module."""
