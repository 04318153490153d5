"""The warning and the error that activation can end in, and how their text is built."""

from __future__ import annotations

import sys
import warnings


class ActivationWarning(UserWarning):
    """torch_cuda could not be activated while torch was imported; torch works on the CPU."""


class ActivationError(RuntimeError):
    """Why torch_cuda cannot be activated.

    Args:
      found: what is there, as a clause without a full stop.
      needed: what would have to be there.
      fix: what to type or to do, one or more lines.
    """

    def __init__(self, *, found: str, needed: str, fix: str) -> None:
        super().__init__(f"found {found}; needed {needed}.\nTo fix it: {fix}")
        self.found = found
        self.needed = needed
        self.fix = fix


def as_warning(error: ActivationError) -> str:
    """Builds the text of the one warning that a failed automatic activation gives.

    Args:
      error: what went wrong.

    Returns:
      What was found, what is needed, what to type, and how to keep the plugin quiet.
    """
    return (
        f"torch_cuda is installed but stays off, and torch works on the CPU: {error}\n"
        "Everything it checked: python -m torch_cuda doctor\n"
        "To keep torch_cuda off without this warning: set TORCH_CUDA_DISABLE=1"
    )


def plugin_warning(name: str, error: ActivationError) -> str:
    """Builds the text of the one warning about a plugin that stays off.

    Args:
      name: of the plugin.
      error: what went wrong.

    Returns:
      What was found, what is needed and what to type.
    """
    return (
        f"{name} is installed but stays off, and torch_cuda works without it: {error}\n"
        "Everything that was checked: python -m torch_cuda doctor"
    )


def warn(message: str) -> None:
    """Gives an `ActivationWarning`. Never raises, even where warnings are errors.

    Args:
      message: the text.
    """
    try:
        warnings.warn(message, ActivationWarning, stacklevel=3)
    except ActivationWarning:
        # Raising would take the CPU torch away with it.
        print(f"ActivationWarning: {message}", file=sys.stderr)
