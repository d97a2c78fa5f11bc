"""What a language model adds."""
