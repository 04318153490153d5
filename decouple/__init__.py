"""Finds, classifies and restructures the device code of a PyTorch tree."""
