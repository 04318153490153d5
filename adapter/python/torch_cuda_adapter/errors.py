"""The errors of the adapter that a user can cause: a sentence that says what to do."""

from __future__ import annotations


class AdapterError(Exception):
    """What was found, what is needed, what to type."""


class UnavailableError(AdapterError, NotImplementedError):
    """A function of CUDA's was called that the platform has nothing for."""
