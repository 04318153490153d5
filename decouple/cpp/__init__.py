"""Reads C and C++ sources the way a preprocessor does."""
