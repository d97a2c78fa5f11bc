"""A cache of what each test executes, valid until code that it depends on changes."""
