"""Compares every operator that PyTorch has samples of (OpInfo), on CUDA against the CPU, in many processes.

    cd /checks && python3 -m tools.gpu.operators --workers 12 --limit 20 --seconds 240

Prints a JSON line for each operator, {name, outcome, detail, seconds}, and a summary. The outcome is right, wrong,
error, skipped or timeout. A process that an operator ends, or whose CUDA no longer works, is started again with the
next operator. An operator that takes too long is tried again at the end, with three times the time: the first use of
a kernel compiles it. The tolerances are those of upstream's test_compare_cpu, and what OpInfo says of it.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import fnmatch
import json
import multiprocessing
import multiprocessing.connection
import sys
import time
import unittest
import warnings
from collections.abc import Sequence
from typing import Any

# Upstream's test compares with these.
_TOLERANCE = 1e-3
# Its kernels on a GPU add in other orders than the CPU's.
_ATTENTION = "nn.functional.scaled_dot_product_attention"
_STARTS_WITHIN = 240.0
_OUTCOMES = ("right", "wrong", "error", "skipped", "timeout")
_READY = "ready"


def _name(operator: Any) -> str:
    variant = operator.variant_test_name
    return f"{operator.name}.{variant}" if variant else str(operator.name)


def _upstream_skips(operator: Any) -> str:
    """Why upstream leaves the comparison with the CPU out; empty where it does not."""
    import torch
    from torch.testing._internal.opinfo.core import DecorateInfo

    for decorator in operator.decorators:
        if not isinstance(decorator, DecorateInfo) or not decorator.is_active(
            "TestCommon", "test_compare_cpu", "cuda", torch.float32, {}
        ):
            continue
        for change in decorator.decorators:

            def probe() -> None:
                pass

            try:
                changed = change(probe)
            except Exception:  # noqa: BLE001, S112 -- tolerances are no decorators of functions
                continue
            if getattr(changed, "__unittest_skip__", False):
                return str(getattr(changed, "__unittest_skip_why__", "")) or "skipped upstream"
            if getattr(changed, "__unittest_expecting_failure__", False):
                return "expected to fail upstream"
            if isinstance(change, unittest.SkipTest):
                return str(change)
    return ""


def _tolerance(operator: Any) -> float:
    """The greatest tolerance that OpInfo has for the operator on CUDA in float32."""
    import torch
    from torch.testing._internal.common_device_type import toleranceOverride
    from torch.testing._internal.opinfo.core import DecorateInfo

    found = _TOLERANCE
    for decorator in operator.decorators:
        if not isinstance(decorator, DecorateInfo) or decorator.device_type == "cpu":
            continue
        for change in decorator.decorators:
            if isinstance(change, toleranceOverride) and torch.float32 in change.d:
                found = max(found, *change.d[torch.float32])
    return found


def _results(operator: Any, sample: Any, gradient: bool, device: str) -> list[Any]:
    """Results of one call, and its arguments' gradients."""
    import torch

    from tests.stock import operators as stock

    torch.manual_seed(2)
    first = stock.there(sample.input, device)
    arguments, keywords = stock.there((sample.args, sample.kwargs), device, _on_the_host(operator))
    result = operator(first, *arguments, **keywords)
    # Where there are several right answers, the same of each, such as absolute values of vectors.
    result = sample.output_process_fn_grad(result)
    found = stock.tensors(result)
    wanted = [one for one in stock.tensors((first, arguments, keywords)) if one.requires_grad]
    roots = [one for one in found if one.requires_grad]
    if gradient and roots and wanted:
        torch.manual_seed(3)
        seeds = [torch.rand_like(one.detach(), device="cpu").to(one.device) for one in roots]
        gradients = torch.autograd.grad(roots, wanted, seeds, allow_unused=True)
        found += [one for one in gradients if one is not None]
    return [one.detach() for one in found]


def _on_the_host(operator: Any) -> Any:
    from tests.stock import operators as stock

    return stock.ON_THE_HOST.get(operator.name)


def _difference(found: Sequence[Any], wanted: Sequence[Any], tolerance: float) -> str:
    """What differs; empty where nothing does."""
    import torch

    if len(found) != len(wanted):
        return f"{len(found)} tensors instead of {len(wanted)}"
    for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
        try:
            torch.testing.assert_close(
                one.cpu(), other.cpu(), equal_nan=True, rtol=tolerance, atol=tolerance
            )
        except AssertionError as error:
            return f"tensor {number}: " + " ".join(str(error).split())
    return ""


def check(operator: Any, count: int) -> tuple[str, str]:
    """Compares the first samples of an operator; returns the outcome and a detail."""
    import torch

    from tests.stock import operators as stock

    name = _name(operator)
    skipped = _upstream_skips(operator)
    if torch.float32 not in operator.supported_dtypes("cuda") & operator.supported_dtypes("cpu"):
        skipped = "no float32"
    if skipped:
        return "skipped", skipped
    gradient = operator.supports_autograd and (
        torch.float32
        in operator.supported_backward_dtypes("cuda") & operator.supported_backward_dtypes("cpu")
    )
    undetermined = any(
        fnmatch.fnmatch(name, one) for one in (*stock.UNWRITTEN, *stock.RANDOM, _ATTENTION)
    )
    samples = stock.samples(operator, torch.float32, gradient, count)
    compared = 0
    for number, sample in enumerate(samples):
        try:
            wanted = _results(operator, sample, gradient, "cpu")
        except Exception as error:  # noqa: BLE001 -- the CPU does not have it
            skipped = f"not on the CPU: {error}".splitlines()[0]
            continue
        found = _results(operator, sample, gradient, "cuda")
        torch.cuda.synchronize()
        if undetermined and [x.shape for x in found] == [x.shape for x in wanted]:
            compared += 1
            continue
        difference = _difference(found, wanted, _tolerance(operator))
        if difference:
            return "wrong", f"sample {number}: {difference}"[:600]
        compared += 1
    if not compared:
        return "skipped", skipped or "no samples"
    return "right", "shapes only" if undetermined else ""


def _works() -> bool:
    """Whether CUDA still works in this process."""
    import torch

    try:
        torch.cuda.synchronize()
        return bool((torch.ones(4, device="cuda") + 1).sum().item() == 8)
    except Exception:  # noqa: BLE001 -- whatever it is, it does not work
        return False


def _work(pipe: multiprocessing.connection.Connection, count: int) -> None:
    """A process: takes names, sends outcomes."""
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    from torch.testing._internal.common_methods_invocations import op_db

    by_name = {_name(operator): operator for operator in op_db}
    if not _works():
        torch.zeros(1, device="cuda")  # says why
    pipe.send(_READY)
    while True:
        name = pipe.recv()
        if name is None:
            return
        try:
            outcome = check(by_name[name], count)
        except Exception as error:  # noqa: BLE001 -- whatever is said is the result
            outcome = ("error", f"{type(error).__name__}: {error}"[:600])
        works = outcome[0] != "error" or _works()
        pipe.send((*outcome, works))
        if not works:
            # No destructor has to run in a context that is lost.
            sys.stdout.flush()
            return


@dataclasses.dataclass
class Worker:
    """A process and what it does.

    Attributes:
        process: the process.
        pipe: our end.
        name: the operator it is at; None while it starts or waits.
        since: when that began.
        limit: seconds for it.
    """

    process: Any
    pipe: multiprocessing.connection.Connection
    name: str | None
    since: float
    limit: float


class Run:
    """All operators, over some processes.

    Args:
        names: of the operators.
        count: of samples of each.
        workers: how many processes.
        limit: seconds for an operator.
        seconds: for all.
    """

    def __init__(
        self, names: Sequence[str], count: int, workers: int, limit: float, seconds: float
    ) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._waiting = collections.deque((name, limit) for name in names)
        self._late: set[str] = set()
        self._limit = limit
        self._count = count
        self._wanted = workers
        self._end = time.monotonic() + seconds
        self._workers: list[Worker] = []
        self._failed_starts = 0
        self.counts: collections.Counter[str] = collections.Counter()

    def _start(self) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, self._count), daemon=True)
        process.start()
        theirs.close()
        self._workers.append(Worker(process, ours, None, time.monotonic(), _STARTS_WITHIN))

    def _report(self, name: str, outcome: str, detail: str, seconds: float) -> None:
        self.counts[outcome] += 1
        line = {"name": name, "outcome": outcome, "detail": detail, "seconds": round(seconds, 2)}
        print(json.dumps(line), flush=True)

    def _give(self, worker: Worker) -> None:
        """Hands out the next operator."""
        worker.name, worker.limit = None, float("inf")
        if self._waiting:
            worker.name, worker.limit = self._waiting.popleft()
            worker.since = time.monotonic()
            worker.pipe.send(worker.name)

    def _drop(self, worker: Worker) -> None:
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()
        self._workers.remove(worker)

    def _heard(self, worker: Worker) -> None:
        """Something came from a process, or its end."""
        try:
            said = worker.pipe.recv()
        except EOFError:
            worker.process.join()
            code = worker.process.exitcode
            if worker.name is None:
                self._failed_starts += 1
            else:
                self._report(
                    worker.name, "error", f"the process ended: {code}", self._spent(worker)
                )
            self._drop(worker)
            return
        if said != _READY:
            outcome, detail, works = said
            if not works:
                detail += " [CUDA does not work afterwards]"
            self._report(str(worker.name), outcome, detail, self._spent(worker))
            if not works:
                self._drop(worker)
                return
        self._give(worker)

    @staticmethod
    def _spent(worker: Worker) -> float:
        return time.monotonic() - worker.since

    def _end_late(self) -> None:
        for worker in list(self._workers):
            if self._spent(worker) > worker.limit:
                if worker.name is None:
                    self._failed_starts += 1
                elif worker.name in self._late:
                    self._report(
                        worker.name, "timeout", f"{worker.limit:.0f} s", self._spent(worker)
                    )
                else:
                    self._late.add(worker.name)
                    self._waiting.append((worker.name, 3 * self._limit))
                self._drop(worker)

    def run(self) -> None:
        """Runs them all, or as many as the time allows."""
        while time.monotonic() < self._end and self._failed_starts < 3:
            busy = [one for one in self._workers if one.name is not None]
            idle = [one for one in self._workers if one.name is None and one.limit == float("inf")]
            if not self._waiting and not busy:
                break
            for worker in idle:
                self._give(worker)
            while len(self._workers) < min(self._wanted, len(self._waiting) + len(busy)):
                self._start()
            ready = multiprocessing.connection.wait([one.pipe for one in self._workers], 0.2)
            for worker in [one for one in self._workers if one.pipe in ready]:
                self._heard(worker)
            self._end_late()
        unfinished = [one.name for one in self._workers if one.name is not None]
        for worker in list(self._workers):
            self._drop(worker)
        why = "processes do not start" if self._failed_starts >= 3 else "no time was left"
        for name in [*unfinished, *(name for name, _ in self._waiting)]:
            self._report(name, "timeout" if name in self._late else "skipped", why, 0.0)


def main(command_line: Sequence[str]) -> int:
    """Runs the command; returns 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--samples", type=int, default=2, help="of each operator")
    parser.add_argument("--limit", type=float, default=20, help="seconds for an operator")
    parser.add_argument("--seconds", type=float, default=300, help="for all")
    parser.add_argument("--names", default="*", help="a pattern, or names with commas")
    options = parser.parse_args(command_line)
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

    patterns = options.names.split(",")
    names = [
        name
        for name in map(_name, op_db)
        if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
    ]
    begin = time.monotonic()
    run = Run(names, options.samples, options.workers, options.limit, options.seconds)
    run.run()
    summary = {one: run.counts[one] for one in _OUTCOMES}
    print(json.dumps({"summary": summary, "seconds": round(time.monotonic() - begin, 1)}))
    return int(run.counts["wrong"] + run.counts["error"] + run.counts["timeout"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
