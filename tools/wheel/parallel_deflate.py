"""Deflate on all cores: a stream that zlib reads, made of blocks that threads compress beside each other.

Each block is compressed with the end of the one before it as its dictionary (RFC 1951, section 2: a distance may reach
32 KiB back, over the border of blocks) and ends on a byte, so that blocks are simply put together. The bytes
depend on the data and the level alone, not on how many threads there are.
"""

from __future__ import annotations

import collections
import concurrent.futures
import os
import zlib

_BLOCK = 1 << 20
_WINDOW = 1 << 15
_RAW = -zlib.MAX_WBITS
_MEMORY = 9


def _deflate(block: bytes, window: bytes, level: int, last: bool) -> bytes:
    packer = zlib.compressobj(level, zlib.DEFLATED, _RAW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, window)
    return packer.compress(block) + packer.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)


class ParallelDeflate:
    """Compresses like `zlib.compressobj(level, wbits=-15)`, on all cores."""

    def __init__(self, level: int) -> None:
        """Args:
        level: 1 to 9, as zlib's.
        """
        self._level = level
        self._threads = os.cpu_count() or 1
        self._pool = concurrent.futures.ThreadPoolExecutor(self._threads)
        self._pending: collections.deque[concurrent.futures.Future[bytes]] = collections.deque()
        self._rest = bytearray()
        self._window = b""

    def compress(self, data: bytes) -> bytes:
        """Takes data, and returns what is compressed so far."""
        self._rest += data
        # One byte stays, so that the last block is known when it is made.
        while len(self._rest) > _BLOCK:
            self._submit(bytes(self._rest[:_BLOCK]), last=False)
            del self._rest[:_BLOCK]
        # As many blocks as threads are under way, and as many again wait: memory stays small.
        return self._finished(leaving=2 * self._threads)

    def flush(self) -> bytes:
        """Returns the end of the stream."""
        self._submit(bytes(self._rest), last=True)
        self._rest.clear()
        end = self._finished(leaving=0)
        self._pool.shutdown()
        return end

    def _submit(self, block: bytes, last: bool) -> None:
        self._pending.append(self._pool.submit(_deflate, block, self._window, self._level, last))
        self._window = block[-_WINDOW:]

    def _finished(self, leaving: int) -> bytes:
        done = []
        while len(self._pending) > leaving:
            done.append(self._pending.popleft().result())
        return b"".join(done)
