"""Packages other than torch that CUDA programs import: the platform's in the place of CUDA's.

modules.change(platform, journal)       # modules under other names
functions.change(platform, journal)     # what programs expect of them beyond what they have
"""
