"""The references of cuda_only_test.py: a module for each kind of operators.

Each has `CHECKS`: what checks which operators, by their names without overloads.
"""
