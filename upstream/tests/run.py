"""Runs PyTorch's own tests against the plugin on a CUDA device.

    ./bazelw run //upstream/tests:run                                   the selected files
    ./bazelw run //upstream/tests:run -- --file test_torch.py -k cumsum
    ./bazelw run //upstream/tests:run -- --file distributed/test_c10d_nccl.py   NCCL, on two devices
    ./bazelw run //upstream/tests:run -- --record FOLDER                 keeps the records, and goes on from them
    ./bazelw run //upstream/tests:run -- --distributed                   all files of NCCL's
    ./bazelw run //upstream/tests:run -- --table docs/results/upstream-tests-core.md   writes the counts there
    ./bazelw run --config=full //upstream/tests:run -- --outside-core --slice   what full adds, too
    ./bazelw run //upstream/tests:run -- --devices fake                  on other devices (docs/devices.md)
    ./bazelw run //upstream/tests:run -- --devices fake --slice --table docs/results/upstream-tests-fake.md

What does not pass is listed with its reason in known.toml, but for tests that ask for an operator
outside the profile. A failure that is not listed may come from one before it, whose traceback holds
device memory: such tests run once more, in a new process without the others, and one that passes
there is reported as order-dependent. A failure that stays, and an entry that is of no use any more,
end in exit status 1.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile
from collections.abc import Sequence

from upstream.tests import results, runner, selection, table
from upstream.tests.outside import Outside


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the chosen files; returns the exit status."""
    parser = argparse.ArgumentParser(description="Run PyTorch's own tests on a CUDA device.")
    parser.add_argument(
        "--tests", type=pathlib.Path, required=True, help="upstream's folder test, or a file in it"
    )
    for name, what in (("full", "the profile `full`"), ("built", "this build")):
        parser.add_argument(
            f"--{name}", type=pathlib.Path, required=True, help=f"registrations.json of {what}"
        )
    parser.add_argument("--file", action="append", help="a file; default: the selected ones")
    parser.add_argument("--distributed", action="store_true", help="the files of NCCL's")
    parser.add_argument(
        "--outside-core", action="store_true", help="also the files about what only `full` has"
    )
    parser.add_argument("-k", dest="expression", help="pytest's -k, in place of the usual one")
    parser.add_argument("--seconds", type=int, default=900, help="for one test (default: 900)")
    parser.add_argument("--record", type=pathlib.Path, help="folder to keep records in")
    parser.add_argument("--table", type=pathlib.Path, help="page to write the counts into")
    parser.add_argument(
        "--devices", default="", help="TORCH_CUDA_DEVICES of the tests (default: as it is)"
    )
    parser.add_argument("--slice", action="store_true", help="of each file, what slice_test has")
    options = parser.parse_args(argv)
    kind = selection.kind(options.devices)
    if options.table and options.expression is not None:
        parser.error("--table has the counts of whole files: it does not go with -k")
    tests = options.tests.resolve()
    tests = tests.parent if tests.is_file() else tests
    known = (runner.HERE / "known.toml").read_text(encoding="utf-8")
    outside = Outside.read(options.full, options.built)
    complete = options.expression is None and not options.slice
    usually = selection.DISTRIBUTED if options.distributed else selection.SELECTED
    more = selection.OUTSIDE_CORE if options.outside_core else {}
    names = options.file or [*usually, *more]
    for name in names:
        if not (tests / selection.path(name)).is_file():
            parser.error(f"{tests} has no {name}")
    # `bazel run` starts programs elsewhere.
    here = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    verdicts = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = here / options.record if options.record else pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            job = runner.Job(
                file=tests / selection.path(name),
                name=name,
                expression=selection.EXPRESSIONS.get(name, "")
                if options.expression is None
                else options.expression,
                record=(folder / selection.record(name)).resolve(),
                seconds=options.seconds,
                parts=selection.PARTS.get(name, 1) if options.slice else 1,
                left_out=selection.LONG.get(name, ()) if options.slice else (),
                devices=options.devices,
            )
            verdicts[name] = runner.run_and_judge(
                job, results.read_known(known, name, kind), outside, complete
            )
            runner.report(name, verdicts[name])
            if options.table:
                row = table.row(name, verdicts[name], job.parts)
                table.update(here / options.table, table.ALL, {name: row})
    if len(verdicts) > 1:
        runner.summarize("all", results.total(list(verdicts.values())))
    status = any(
        verdict.unexpected or verdict.needless or not verdict.passed
        for verdict in verdicts.values()
    )
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
