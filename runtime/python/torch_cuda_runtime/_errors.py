"""What is raised and warned of when devices cannot be had."""

from __future__ import annotations

import sys
import warnings


class DeviceError(Exception):
    """The devices that are asked for are not there; the text says what to do."""


class Unusable(DeviceError):
    """Why devices cannot be used.

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


class DeviceWarning(UserWarning):
    """The devices that are asked for could not be given to the torch that was imported."""


def warn(message: str) -> None:
    """Gives a `DeviceWarning`. Never raises, even where warnings are errors: `import torch` goes on.

    Args:
        message: the text.
    """
    try:
        warnings.warn(f"torch_cuda_runtime: {message}", DeviceWarning, stacklevel=2)
    except DeviceWarning:
        print(f"DeviceWarning: torch_cuda_runtime: {message}", file=sys.stderr)
