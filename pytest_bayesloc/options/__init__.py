"""Command line and ini file to frozen settings."""
