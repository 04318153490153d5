"""A file on a server, read by its parts: HTTP range requests, a block at a time.

What reads it is `zipfile`, which looks at an archive's end and then at the members that it is asked for.
"""

from __future__ import annotations

import http.client
import io
import ssl
import urllib.error
import urllib.request
from collections import OrderedDict

# A block is a request: large enough that thousands of small members that lie side by side take few of them.
BLOCK = 1 << 20
_KEPT_BLOCKS = 8
_ATTEMPTS = 4
_TIMEOUT_SECONDS = 120.0


class RangesError(Exception):
    """The server does not give parts of this file, or does not answer; the message says what it said."""


class RangedFile(io.RawIOBase):
    """A file to read and seek in; `received` counts the bytes that came over the network."""

    def __init__(self, url: str, context: ssl.SSLContext | None = None, block: int = BLOCK) -> None:
        """Asks for the file's length, with its first byte.

        Args:
            url: where it is, `http` or `https`.
            context: the certificates to accept; None for Python's own choice.
            block: how many bytes one request asks for.

        Raises:
            RangesError: the server does not give parts of it.
        """
        super().__init__()
        self.received = 0
        self._url = url
        self._context = context
        self._block = block
        self._position = 0
        self._blocks: OrderedDict[int, bytes] = OrderedDict()
        _, content_range = self._request(0, 0)
        total = content_range.rpartition("/")[2]
        if not total.isdigit():
            raise RangesError(f"it does not say how long the file is ({content_range!r})")
        self._size = int(total)

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def tell(self) -> int:
        """Where the next read begins."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Says where the next read begins; asks the server for nothing."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, start + offset)
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        """Reads as many bytes as are asked for and there."""
        end = self._size if size is None or size < 0 else min(self._position + size, self._size)
        parts = []
        while self._position < end:
            number, skipped = divmod(self._position, self._block)
            part = self._block_at(number)[skipped : skipped + end - self._position]
            parts.append(part)
            self._position += len(part)
        return b"".join(parts)

    def _block_at(self, number: int) -> bytes:
        if number in self._blocks:
            self._blocks.move_to_end(number)
            return self._blocks[number]
        start = number * self._block
        last = min(start + self._block, self._size) - 1
        content, _ = self._request(start, last)
        self._blocks[number] = content
        if len(self._blocks) > _KEPT_BLOCKS:
            self._blocks.popitem(last=False)
        return content

    def _request(self, first: int, last: int) -> tuple[bytes, str]:
        """Returns the bytes from `first` to `last`, both included, and the header that says which they are."""
        request = urllib.request.Request(self._url, headers={"Range": f"bytes={first}-{last}"})
        failure = ""
        for _ in range(_ATTEMPTS):
            try:
                with urllib.request.urlopen(
                    request, timeout=_TIMEOUT_SECONDS, context=self._context
                ) as response:
                    # Not read where it is the whole file.
                    if response.status != 206:
                        raise RangesError(
                            f"it answers a request for a part with HTTP {response.status}"
                        )
                    content: bytes = response.read()
                    if len(content) == last - first + 1:
                        self.received += len(content)
                        return content, response.headers.get("Content-Range", "")
                    failure = f"{len(content)} bytes came instead of {last - first + 1}"
            except urllib.error.HTTPError as error:
                raise RangesError(f"HTTP {error.code} {error.reason}") from error
            except (OSError, http.client.HTTPException) as error:
                failure = str(error) or type(error).__name__
        raise RangesError(failure)
