"""`import torch` with the plugin installed and without it, as a ratio over paired runs.

    bazel run //bench:import_time -- --pairs 20

Two virtual environments over the same stock torch are compared; the second one has the wheel,
compiled to bytecode as pip does. Each reading is a fresh process that times nothing but `import
torch`.
"""

from __future__ import annotations

import argparse
import compileall
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from bench import paired
from tools.wheel import run_in_venv

_IMPORT = """
import sys, time
start = time.perf_counter()
import torch
print(time.perf_counter() - start, torch.version.cuda is not None)
"""


def read(python: pathlib.Path, expect_cuda: bool) -> float:
    """Times one `import torch`.

    Args:
        python: the interpreter.
        expect_cuda: whether torch has to show CUDA afterwards; a plugin that refused to be
            activated would be quick.

    Returns:
        Seconds.

    Raises:
        RuntimeError: torch has CUDA although it should not, or the other way round.
    """
    done = subprocess.run([python, "-I", "-c", _IMPORT], check=True, capture_output=True, text=True)
    seconds, has_cuda = done.stdout.split()
    if (has_cuda == "True") != expect_cuda:
        raise RuntimeError(
            f"torch in {python} {'has' if has_cuda == 'True' else 'lacks'} CUDA, which this "
            f"environment {'should have' if expect_cuda else 'should not'}.\n{done.stderr}"
        )
    return float(seconds)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the bench and prints one line, or JSON.

    Args:
        argv: see `--help`; the process's own arguments if None.

    Returns:
        0.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=pathlib.Path, required=True, help="has the stock torch")
    parser.add_argument("--site", type=pathlib.Path, required=True, help="the unpacked wheel")
    parser.add_argument("--pairs", type=int, default=20, help="paired runs (default: 20)")
    parser.add_argument("--json", type=pathlib.Path, help="also write all readings to this file")
    options = parser.parse_args(argv)

    with tempfile.TemporaryDirectory() as scratch:
        stock, _ = run_in_venv.create(pathlib.Path(scratch, "stock"), options.python)
        plugin, site = run_in_venv.create(pathlib.Path(scratch, "plugin"), options.python)
        shutil.copytree(options.site.resolve(), site, dirs_exist_ok=True)
        compileall.compile_dir(site, quiet=1)
        readings = paired.interleave(
            lambda: read(plugin, expect_cuda=True),
            lambda: read(stock, expect_cuda=False),
            options.pairs,
        )
    ratios = paired.ratios(readings)
    with_plugin, without = (statistics.median(side) for side in zip(*readings, strict=True))
    print(
        f"import torch without the plugin: {without:.3f} s, with it: {with_plugin:.3f} s (medians)"
    )
    print(f"ratio: {ratios}")
    if options.json:
        text = json.dumps({"readings": readings, "ratio": ratios.median}, indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
