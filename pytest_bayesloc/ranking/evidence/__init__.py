"""One kind of evidence a file."""
