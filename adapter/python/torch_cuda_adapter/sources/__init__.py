"""Translates C++ and CUDA sources to the names of another platform."""
