"""Rooms, bookings and invoices of a small guesthouse."""
