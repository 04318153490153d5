"""A package index on the loopback, with one wheel, which the tests of this folder ask."""

from __future__ import annotations

import hashlib
import http.server
import threading
from types import TracebackType
from typing import Self


class PackageServer:
    """Serves a wheel and its metadata, as PEP 503 and PEP 658 have it, and notes who asked for what.

    Attributes:
        url: the index, as pip wants it.
        requests: each request for the wheel itself: the header Range, or "" without one.
        logins: each header Authorization of a request for a page.
        failures: how many of the next requests for the wheel break off half way.
    """

    def __init__(
        self, name: str, wheel: bytes, metadata: bytes, ranges: bool = True, project: str = ""
    ) -> None:
        """Prepares the server; it runs in a `with` block.

        Args:
            name: the wheel's file name.
            wheel: its bytes.
            metadata: its METADATA.
            ranges: whether parts of it are served.
            project: its project's name; the first part of the file name where it is empty.
        """
        self.requests: list[str] = []
        self.logins: list[str] = []
        self.failures = 0
        project = project or name.partition("-")[0]
        page = (
            f'<a href="/files/{name}#sha256={hashlib.sha256(wheel).hexdigest()}" '
            f'data-core-metadata="sha256={hashlib.sha256(metadata).hexdigest()}">{name}</a>'
        ).encode()
        files = {
            f"/simple/{project}/": (page, "text/html"),
            f"/files/{name}.metadata": (metadata, "application/octet-stream"),
        }
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                if "Authorization" in self.headers:
                    outer.logins.append(self.headers["Authorization"])
                if self.path in files:
                    content, kind = files[self.path]
                    self.answer(200, content, {"Content-Type": kind})
                elif self.path == f"/files/{name}":
                    self.wheel(self.headers.get("Range", ""))
                else:
                    self.answer(404, b"", {})

            def wheel(self, wanted: str) -> None:
                outer.requests.append(wanted)
                if not ranges or not wanted:
                    self.answer(200, wheel, {})
                    return
                first, _, last = wanted.removeprefix("bytes=").partition("-")
                part = wheel[int(first) : int(last) + 1]
                which = f"bytes {first}-{int(first) + len(part) - 1}/{len(wheel)}"
                self.answer(206, part, {"Content-Range": which})

            def answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
                self.send_response(status)
                for key, value in headers.items():
                    self.send_header(key, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if outer.failures and status == 206:
                    outer.failures -= 1
                    content = content[: len(content) // 2]
                self.wfile.write(content)

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        root = f"http://127.0.0.1:{self._server.server_port}"
        self.url = f"{root}/simple"
        self.wheel_url = f"{root}/files/{name}"
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
