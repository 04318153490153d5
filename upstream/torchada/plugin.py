"""A pytest plugin that gives torchada's tests the adapter as `torchada`, and leaves out those that are not applicable.

It is loaded beside upstream/tests/recorder.py, and records the tests that it leaves out in the same file.
"""

from __future__ import annotations

import functools
import importlib
import pathlib

import pytest
from torch_cuda_adapter.runtime import alias

from upstream.tests import recorder
from upstream.torchada import answers, applicability


def pytest_configure(config: pytest.Config) -> None:
    """Has the adapter answer to `import torchada`, here and in processes that tests start."""
    for mark in ("gpu", "musa"):
        config.addinivalue_line("markers", f"{mark}: torchada's own")
    alias.install()
    alias.install_for_processes()
    answers.install(importlib.import_module("torchada.utils.cpp_extension"))


@functools.cache
def _reasons(path: pathlib.Path) -> dict[str, applicability.Reason | None]:
    return applicability.read(path, answers.ANSWERED)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves out the tests that are not applicable."""
    kept = []
    for item in items:
        name = recorder.name_of(item.nodeid)
        reason = _reasons(item.path)[name.partition("[")[0]]
        if reason is None:
            kept.append(item)
        else:
            recorder.write(test=name, outcome=reason.value, reason="", seconds=0.0)
    items[:] = kept
