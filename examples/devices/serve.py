"""The page and its data, for a browser on this machine."""

from __future__ import annotations

import http.server
import json
import pathlib
from collections.abc import Callable
from typing import Any

_PAGE = pathlib.Path(__file__).with_name("page.html")


class Server(http.server.ThreadingHTTPServer):
    """Serves page.html, and at /state what `snapshot` returns as JSON.

    Args:
      port: on the loopback interface; 0: one that is free.
      snapshot: the data of the page.
    """

    daemon_threads = True

    def __init__(self, port: int, snapshot: Callable[[], Any]) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.snapshot = snapshot

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://127.0.0.1:{self.server_port}/"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        match self.path:
            case "/":
                self._answer("text/html; charset=utf-8", _PAGE.read_bytes())
            case "/state":
                self._answer("application/json", json.dumps(self.server.snapshot()).encode())
            case _:
                self.send_error(404)

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps silent: a page asks twice a second."""
