"""What is read of a file on a server, and what is asked for."""

import io

from absl.testing import absltest

from tools.remote_wheel.package_server import PackageServer
from tools.remote_wheel.ranged_file import RangedFile, RangesError

_CONTENT = bytes(index * 7 % 251 for index in range(1000))


class RangedFileTest(absltest.TestCase):
    def serve(self, ranges: bool = True) -> PackageServer:
        server = PackageServer("sample-1-py3-none-any.whl", _CONTENT, b"", ranges=ranges)
        self.enter_context(server)
        return server

    def test_it_reads_what_a_local_file_would(self) -> None:
        remote, local = RangedFile(self.serve().wheel_url, block=64), io.BytesIO(_CONTENT)
        for offset, whence, size in (
            (0, io.SEEK_SET, 10),
            (50, io.SEEK_SET, 300),
            (5, io.SEEK_CUR, 1),
            (-22, io.SEEK_END, 22),
            (-5, io.SEEK_END, 100),
            (2000, io.SEEK_SET, 5),
            (0, io.SEEK_SET, -1),
        ):
            with self.subTest(offset=offset, whence=whence, size=size):
                self.assertEqual(remote.seek(offset, whence), local.seek(offset, whence))
                self.assertEqual(remote.read(size), local.read(size))
                self.assertEqual(remote.tell(), local.tell())

    def test_only_the_blocks_that_are_read_are_asked_for(self) -> None:
        server = self.serve()
        remote = RangedFile(server.wheel_url, block=100)
        remote.seek(250)
        remote.read(100)
        remote.seek(260)
        remote.read(10)
        self.assertEqual(server.requests, ["bytes=0-0", "bytes=200-299", "bytes=300-399"])
        self.assertEqual(remote.received, 201)

    def test_the_last_block_is_as_long_as_the_file(self) -> None:
        server = self.serve()
        remote = RangedFile(server.wheel_url, block=300)
        remote.seek(990)
        self.assertEqual(remote.read(), _CONTENT[990:])
        self.assertEqual(server.requests[-1], "bytes=900-999")

    def test_an_answer_that_breaks_off_is_asked_for_again(self) -> None:
        server = self.serve()
        remote = RangedFile(server.wheel_url, block=500)
        server.failures = 2
        self.assertEqual(remote.read(500), _CONTENT[:500])
        self.assertEqual(server.requests[1:], ["bytes=0-499"] * 3)

    def test_a_server_that_always_breaks_off_is_given_up(self) -> None:
        server = self.serve()
        remote = RangedFile(server.wheel_url, block=500)
        server.failures = 100
        with self.assertRaises(RangesError):
            remote.read(500)

    def test_a_server_without_ranges_is_said_to_be_one(self) -> None:
        with self.assertRaisesRegex(RangesError, "with HTTP 200"):
            RangedFile(self.serve(ranges=False).wheel_url)

    def test_a_file_that_is_not_there_is_said_to_be_missing(self) -> None:
        with self.assertRaisesRegex(RangesError, "HTTP 404"):
            RangedFile(self.serve().wheel_url + ".not")


if __name__ == "__main__":
    absltest.main()
