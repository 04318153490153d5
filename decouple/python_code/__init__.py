"""Finds device code in Python modules."""
