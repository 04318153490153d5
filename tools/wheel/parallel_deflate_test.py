"""What threads deflate is what zlib inflates."""

from __future__ import annotations

import os
import random
import zlib
from unittest import mock

from absl.testing import absltest, parameterized

from tools.wheel.parallel_deflate import ParallelDeflate

MEGABYTE = 1 << 20


def _data(size: int) -> bytes:
    """Bytes that repeat over long distances, with noise between."""
    source = random.Random(size)
    words = [source.randbytes(source.randint(3, 40)) for _ in range(500)]
    data = bytearray()
    while len(data) < size:
        data += source.choice(words)
    return bytes(data[:size])


def _deflate(data: bytes, level: int, piece: int) -> bytes:
    packer = ParallelDeflate(level)
    pieces = [packer.compress(data[i : i + piece]) for i in range(0, len(data), piece)]
    return b"".join(pieces) + packer.flush()


class ParallelDeflateTest(parameterized.TestCase):
    @parameterized.product(
        size=(0, 1, MEGABYTE - 1, MEGABYTE, MEGABYTE + 1, 5 * MEGABYTE + 17), level=(1, 6)
    )
    def test_zlib_reads_it(self, size: int, level: int) -> None:
        data = _data(size)
        packed = _deflate(data, level, piece=3 * MEGABYTE // 2)
        reader = zlib.decompressobj(-zlib.MAX_WBITS)
        self.assertEqual(reader.decompress(packed), data)
        self.assertTrue(reader.eof)
        self.assertEqual(reader.unused_data, b"")

    def test_bytes_depend_neither_on_threads_nor_on_pieces(self) -> None:
        data = _data(4 * MEGABYTE)
        packed = _deflate(data, 1, piece=MEGABYTE)
        self.assertEqual(packed, _deflate(data, 1, piece=77_777))
        with mock.patch.object(os, "cpu_count", return_value=1):
            self.assertEqual(packed, _deflate(data, 1, piece=MEGABYTE))

    def test_it_is_as_small_as_one_stream(self) -> None:
        data = _data(4 * MEGABYTE)
        whole = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
        size = len(whole.compress(data) + whole.flush())
        self.assertLess(len(_deflate(data, 6, piece=MEGABYTE)), size * 1.01)


if __name__ == "__main__":
    absltest.main()
