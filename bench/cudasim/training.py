"""Training steps on the simulated device: interpreted, with native code, and on the CPU, in ratios of processor time.

    ./bazelw run //bench/cudasim:training
    ./bazelw run //bench/cudasim:training -- --models lstm,sort --steps 40 --pairs 7
    ./bazelw run //bench/cudasim:training -- --more 8
    ./bazelw run //bench/cudasim:training -- --empty 20

Three processes train the same model, each on one thread, and take their steps in turn. A step is forward, backward and
SGD, the loss read by the host. A process before them leaves native code of all regions in a folder, as an earlier run
of the same program would: what is measured is warm. Losses of both simulated devices have to be the same to the bit.

With `--empty`, one process interprets and the other begins with no native code and CUDASIM_NATIVE=auto: what all its
threads take from the first step on, whatever they compile, is divided by what interpreting takes.
"""

from __future__ import annotations

import argparse
import math
import tempfile

from bench import paired
from bench.cudasim import models
from bench.cudasim.trainer import Trainer

_MODES = {"interpreted": "off", "native": "always", "CPU": "off"}
_EMPTY_MODES = {"interpreted": "off", "native": "auto"}


def _native(mode: str, cache: str) -> dict[str, str]:
    return {"CUDASIM_NATIVE": mode, "CUDASIM_NATIVE_CACHE": cache}


def measure(name: str, more: int, steps: int, pairs: int, warm: int) -> tuple[float, float, float]:
    """Prints a model's row.

    Args:
        name: of the model.
        more: how many times the usual number of examples a step has.
        steps: of each reading.
        pairs: readings of each process.
        warm: steps before the first reading.

    Returns:
        interpreted to native, interpreted to CPU, native to CPU.
    """
    with tempfile.TemporaryDirectory() as cache:
        return _measure(name, more, steps, pairs, warm, f"{cache}/native")


def _measure(
    name: str, more: int, steps: int, pairs: int, warm: int, cache: str
) -> tuple[float, float, float]:
    before = Trainer(name, more, _native(_MODES["native"], cache))
    before.steps(warm + (pairs + 1) * steps)
    before.end()
    workers = {
        mode: Trainer(name, more, _native(native, cache), "cpu" if mode == "CPU" else "cuda")
        for mode, native in _MODES.items()
    }
    for worker in workers.values():
        worker.steps(warm)
    interpreted, native = workers["interpreted"], workers["native"]
    readings = paired.interleave(
        lambda: interpreted.steps(steps), lambda: native.steps(steps), pairs
    )
    cpu = min(workers["CPU"].steps(steps) for _ in range(pairs))
    if interpreted.loss != native.loss:
        raise SystemExit(
            f"{name}: native code's loss is {native.loss}, the interpreter's {interpreted.loss}."
        )
    for worker in workers.values():
        worker.end()
    gain = paired.ratios(readings).median
    slow = min(one for one, _ in readings) / cpu
    quick = min(other for _, other in readings) / cpu
    print(
        f"{name:12} {min(one for one, _ in readings) / steps * 1e3:10.2f} ms {gain:8.2f} {slow:10.1f} {quick:10.1f}",
        flush=True,
    )
    return gain, slow, quick


def measure_from_empty(name: str, more: int, steps: int, seconds: float) -> float:
    """Prints a model's row: what the first seconds of a program cost that begins without native code.

    Args:
        name: of the model.
        more: how many times the usual number of examples a step has.
        steps: of each reading.
        seconds: of processor time, for which it is interpreted.

    Returns:
        processor time with CUDASIM_NATIVE=auto to that of interpreting, for the same steps.
    """
    with tempfile.TemporaryDirectory() as cache:
        workers = {
            mode: Trainer(name, more, _native(native, f"{cache}/{mode}"))
            for mode, native in _EMPTY_MODES.items()
        }
        begins = {}
        for mode, worker in workers.items():
            worker.steps(0)
            begins[mode] = worker.total
        ratio, worst, overtaken = 1.0, 0.0, None
        spent = dict.fromkeys(workers, 0.0)
        while spent["interpreted"] < seconds:
            for mode, worker in workers.items():
                worker.steps(steps)
                spent[mode] = worker.total - begins[mode]
            ratio = spent["native"] / spent["interpreted"]
            worst = max(worst, ratio)
            if ratio > 1:
                overtaken = None
            elif overtaken is None:
                overtaken = spent["interpreted"]
        for worker in workers.values():
            worker.end()
    after = "never" if overtaken is None else f"after {overtaken:.1f} s"
    print(f"{name:12} {ratio:8.3f} {worst:8.3f}   {after}", flush=True)
    return ratio


def main() -> None:
    """Prints one row a model and the geometric means."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", help="names, with commas between them")
    parser.add_argument("--steps", type=int, default=5, help="of a reading")
    parser.add_argument(
        "--warm",
        type=int,
        default=40,
        help="steps before the first reading, until code is there for lanes that part",
    )
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument(
        "--more", type=int, default=1, help="times the usual number of examples a step"
    )
    parser.add_argument(
        "--empty",
        type=float,
        metavar="SECONDS",
        help="of a run that begins without native code, instead of the warm steps",
    )
    options = parser.parse_args()
    names = options.models.split(",") if options.models else list(models.models(1))
    if options.empty:
        print(f"{'model':12} {'auto':>8} {'at worst':>8}   quicker")
        for name in names:
            measure_from_empty(name, options.more, options.steps, options.empty)
        return
    print(f"{'model':12} {'interpreted':>13} {'gain':>8} {'to CPU':>10} {'native to CPU':>10}")
    rows = [
        measure(name, options.more, options.steps, options.pairs, options.warm) for name in names
    ]
    means = [math.exp(sum(map(math.log, column)) / len(rows)) for column in zip(*rows, strict=True)]
    print(f"{'mean':12} {'':13} {means[0]:8.2f} {means[1]:10.1f} {means[2]:10.1f}")


if __name__ == "__main__":
    main()
