"""What each test executed when it was traced last, kept for as long as it would again."""
