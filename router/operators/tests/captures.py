"""What tests of CUDA graphs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def equal(found: torch.Tensor, wanted: torch.Tensor) -> None:
    """Fails unless the bits are the same."""
    torch.testing.assert_close(found.cpu(), wanted.cpu(), rtol=0, atol=0, equal_nan=True)


def capture(work: Callable[[], Any], **options: Any) -> tuple[torch.cuda.CUDAGraph, Any]:
    """Captures a function; returns the graph and what the function returned."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, **options):
        results = work()
    return graph, results
