"""pytest's hooks: no decisions here."""
