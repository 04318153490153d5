"""CUDA programs on devices that have a PyTorch backend of their own: docs/adapter.md.

Importing it changes nothing.
"""
