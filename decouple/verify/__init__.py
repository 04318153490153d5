"""Proves that the packages cover all CUDA code of a tree."""
