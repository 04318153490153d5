"""The rules of a scan, as data."""
