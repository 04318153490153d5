"""The warning and the error that activation can end in, and how their text is built."""

from __future__ import annotations


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
