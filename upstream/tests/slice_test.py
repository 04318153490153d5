"""A slice of each of upstream's test files passes, and slices.md has its counts.

    ./bazelw test //upstream/tests:slice_test                            one shard a file
    ./bazelw test //upstream/tests:fake_slice_test                       of some files, on the device "fake"
    ./bazelw run //upstream/tests:update                                 writes the table
    ./bazelw run //upstream/tests:update -- --file test_nn.py            writes one row

The counts are those of the core profile on the simulated device; with another device (--devices) or profile nothing
but failures that are not listed counts.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pathlib
import sys
import tempfile
from collections.abc import Mapping, Sequence

from upstream.tests import results, runner, selection, table
from upstream.tests.outside import Outside

_SECONDS = 300


def chosen(files: Sequence[str], environment: Mapping[str, str]) -> Sequence[str]:
    """The files of this process: all, or those of its shard."""
    shards = int(environment.get("TEST_TOTAL_SHARDS", "1"))
    index = int(environment.get("TEST_SHARD_INDEX", "0"))
    return files[index::shards]


def counted() -> bool:
    """Whether this is the device and the profile that the table is about."""
    built = importlib.import_module("torch_cuda._build_info")
    return os.environ.get("TORCH_CUDA_SIM") == "1" and built.OPS == "core"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the slices; returns the exit status."""
    parser = argparse.ArgumentParser(description="Run a slice of PyTorch's own tests.")
    parser.add_argument("--tests", type=pathlib.Path, required=True, help="a file of upstream's")
    parser.add_argument("--full", type=pathlib.Path, required=True)
    parser.add_argument("--built", type=pathlib.Path, required=True)
    parser.add_argument("--page", type=pathlib.Path, required=True, help="with the table")
    parser.add_argument("--file", action="append", help="a file; default: the selected ones")
    parser.add_argument("--devices", default="", help="as run.py has it")
    options = parser.parse_args(argv)
    if status_file := os.environ.get("TEST_SHARD_STATUS_FILE"):
        pathlib.Path(status_file).touch()  # tells Bazel that shards are heeded
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    page = pathlib.Path(workspace, options.page) if workspace else options.page
    recorded = table.rows(page.read_text(encoding="utf-8"), table.SLICES)
    known = (runner.HERE / "known.toml").read_text(encoding="utf-8")
    outside = Outside.read(options.full, options.built)
    sound = True
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen(options.file or list(selection.SELECTED), os.environ):
            parts = selection.SLICES[name]
            job = runner.Job(
                file=options.tests.resolve().parent / name,
                name=name,
                expression=selection.SELECTED[name],
                record=pathlib.Path(folder, selection.record(name)),
                seconds=_SECONDS,
                parts=parts,
                left_out=selection.LONG.get(name, ()),
                devices=options.devices,
            )
            entries = results.read_known(known, name, selection.kind(options.devices))
            verdict = runner.run_and_judge(job, entries, outside, complete=False)
            runner.report(name, verdict)
            if verdict.unexpected or not verdict.passed:
                print(job.record.with_suffix(".log").read_text(encoding="utf-8")[-4000:])
                sound = False
                continue
            row = table.row(name, verdict, parts)
            if workspace:
                table.update(page, table.SLICES, {name: row})
            elif not options.devices and counted() and row != recorded.get(name):
                print(f"{options.page} has {recorded.get(name, 'no row')}\nand should have {row}")
                print(f"type: ./bazelw run //upstream/tests:update -- --file {name}")
                sound = False
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
