"""TCPStore on a torch that was built without libuv, such as Debian's.

PyTorch asks for libuv by default, torchrun in places where no setting changes that, and such a build
then refuses to make any store: `torch.distributed.run` ends with "PyTorch was build without libuv
support". The store's other server is in every build and speaks the same protocol.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

# The constructor takes so many arguments before `use_libuv`.
_BEFORE_LIBUV = 8
_NO_LIBUV = "without libuv support"


def with_either_server(init: Callable[..., None]) -> Callable[..., None]:
    """Makes a constructor that takes the other server where there is no libuv.

    Args:
      init: TCPStore's own.

    Returns:
      One that does the same, and does not fail for want of libuv.
    """

    @functools.wraps(init)
    def __init__(self: object, *arguments: Any, **keywords: Any) -> None:
        try:
            init(self, *arguments, **keywords)
        except RuntimeError as error:
            if _NO_LIBUV not in str(error):
                raise
            init(self, *arguments[:_BEFORE_LIBUV], **{**keywords, "use_libuv": False})

    return __init__
