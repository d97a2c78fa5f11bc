"""One way a file to reach a place where tests are run again."""
