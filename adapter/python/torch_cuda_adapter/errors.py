"""The one error of the adapter that a user can cause: a sentence that says what to do."""

from __future__ import annotations


class AdapterError(Exception):
    """What was found, what is needed, what to type."""
