"""What is remembered from run to run."""
