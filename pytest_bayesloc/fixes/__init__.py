"""Tools that propose fixes: found, checked, shown, and applied on request."""
