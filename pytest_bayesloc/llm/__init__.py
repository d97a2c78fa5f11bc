"""Language models behind OpenAI-compatible endpoints. Off unless the user names one."""
