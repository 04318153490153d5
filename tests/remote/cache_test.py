"""A build whose actions see their declared inputs alone gives another one, through a remote cache, all results."""

from __future__ import annotations

import contextlib
import http.server
import re
import threading
import unittest
from collections.abc import Iterator

from tests.nested.bazel import Bazel
from tools.lint import workspace

# Upstream's C++ units, and a link: nvcc's part of an hour would prove nothing more.
LIBRARY = "//c10_cuda:libc10_cuda.so"
SANDBOX = "processwrapper-sandbox"


class _Handler(http.server.BaseHTTPRequestHandler):
    """What is PUT is there for GET."""

    protocol_version = "HTTP/1.1"
    stored: dict[str, bytes]

    def do_PUT(self) -> None:
        self.stored[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(200)

    def do_GET(self) -> None:
        content = self.stored.get(self.path)
        self._answer(200 if content is not None else 404, content or b"")

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, status: int, content: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextlib.contextmanager
def empty_cache() -> Iterator[str]:
    """Runs an HTTP cache with nothing in it; yields its address."""
    handler = type("Handler", (_Handler,), {"stored": {}})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class CacheTest(unittest.TestCase):
    def setUp(self) -> None:
        self.bazel = Bazel(workspace.root(), Bazel.output_base("remote"))
        self.addCleanup(self.bazel.shut_down)

    def build(self, address: str, *options: str) -> dict[str, int]:
        """Builds from nothing; returns how many actions ran in which way, without Bazel's own."""
        self.bazel.run("clean")
        cache = ("--config=remote", f"--remote_cache={address}", "--disk_cache=")
        result = self.bazel.run("build", *cache, *options, LIBRARY)
        self.assertTrue(result.succeeded, result.text)
        (ways,) = re.findall(r"^INFO: \d+ process(?:es)?: (.*)\.$", result.text, re.MULTILINE)
        counts = (way.split(" ", 1) for way in ways.split(", "))
        return {name: int(count) for count, name in counts if name != "internal"}

    def test_all_results_come_from_a_build_in_a_sandbox(self) -> None:
        with empty_cache() as address:
            first = self.build(address, f"--spawn_strategy={SANDBOX}")
            self.assertEqual(set(first), {SANDBOX})
            second = self.build(address)
        self.assertEqual(second, {"remote cache hit": first[SANDBOX]})


if __name__ == "__main__":
    unittest.main()
