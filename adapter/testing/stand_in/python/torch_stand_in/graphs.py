"""Graphs: what a block of work does to tensors, to be done again on the same memory."""

from __future__ import annotations

import gc
import itertools
from typing import Any

import torch

from torch_stand_in import _device, _memory, _streams
from torch_stand_in._native import functions as native
from torch_stand_in._native import graph as graph_class

_pools = itertools.count(1)


def is_current_stream_capturing() -> bool:
    """Whether a graph is being captured in this process."""
    return bool(native.is_capturing())


def graph_pool_handle() -> tuple[int, int]:
    """A name for memory that graphs share. Each graph has memory of its own here, so that all go together."""
    return (0, next(_pools))


class StandGraph:
    """A graph. Operators and kernels are recorded, whichever their stream; one is captured at a time.

    Args:
      keep_graph: looked at by nobody.
    """

    def __init__(self, keep_graph: bool = False) -> None:
        self._graph = graph_class()
        self._pool = graph_pool_handle()

    def capture_begin(
        self, pool: tuple[int, int] | None = None, capture_error_mode: str = "global"
    ) -> None:
        """Begins to capture.

        Args:
          pool: of graph_pool_handle.
          capture_error_mode: "global", "thread_local" or "relaxed"; all are the same here.

        Raises:
          RuntimeError: another graph is being captured, or this one has been.
        """
        if capture_error_mode not in ("global", "thread_local", "relaxed"):
            raise RuntimeError(f"Unknown capture error mode. Found {capture_error_mode!r}")
        _device.init()
        self._pool = self._pool if pool is None else pool
        self._graph.capture_begin()

    def capture_end(self) -> None:
        """Ends the capture. Memory and generators are as they were when it began."""
        self._graph.capture_end()

    def replay(self) -> None:
        """Does it all again."""
        self._graph.replay()

    def reset(self) -> None:
        """Gives back the graph's memory."""
        self._graph.reset()

    def pool(self) -> tuple[int, int]:
        """The name of its memory."""
        return self._pool


class graph:
    """Captures what its block does.

    Args:
      stand_in_graph: receives it.
      pool: of graph_pool_handle.
      stream: the current one in the block; None for one that all such blocks share.
      capture_error_mode: see StandGraph.capture_begin.
    """

    _default_stream: torch.Stream | None = None

    def __init__(
        self,
        stand_in_graph: StandGraph,
        pool: tuple[int, int] | None = None,
        stream: torch.Stream | None = None,
        capture_error_mode: str = "global",
    ) -> None:
        if stream is None and graph._default_stream is None:
            graph._default_stream = _streams.Stream()
        self._context = _streams.stream(graph._default_stream if stream is None else stream)
        self._graph = stand_in_graph
        self._begin: tuple[Any, str] = (pool, capture_error_mode)

    def __enter__(self) -> None:
        _device.synchronize()
        gc.collect()
        _memory.empty_cache()
        self._context.__enter__()
        self._graph.capture_begin(*self._begin)

    def __exit__(self, *error: object) -> None:
        self._graph.capture_end()
        self._context.__exit__(*error)
