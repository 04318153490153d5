"""Trains one CUDA program on every device that is found, side by side on a page.

./bazelw run //examples:devices                               what is installed
./bazelw run //examples:devices -- --device /path/libaccel_vendor.so
./bazelw run //examples:devices -- --program my_script.py     prints lines "step N loss X"
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
from collections.abc import Sequence

from examples.devices import targets
from examples.devices.runs import Runs
from examples.devices.serve import Server

_TRAIN = pathlib.Path(__file__).with_name("train.py")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the program on all devices and serves the page; returns the exit status."""
    parser = argparse.ArgumentParser(description="Train one CUDA program on every device.")
    parser.add_argument(
        "--device",
        action="append",
        default=[],
        help="an entry of TORCH_CUDA_DEVICES, such as a path",
    )
    parser.add_argument("--program", type=pathlib.Path, default=_TRAIN)
    parser.add_argument(
        "--port", type=int, default=0, help="of the page; default: any that is free"
    )
    parser.add_argument(
        "--at-once", type=int, default=os.cpu_count() or 1, help="processes at a time"
    )
    parser.add_argument("--once", action="store_true", help="end with the programs, without a page")
    options, arguments = parser.parse_known_args(argv)
    # `bazel run` starts programs elsewhere.
    here = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    program = here / options.program
    if not program.is_file():
        parser.error(f"found no program {options.program}")
    runs = Runs([str(program), *arguments], targets.find(options.device), max(1, options.at_once))
    runs.start()
    try:
        if not options.once:
            with Server(options.port, runs.snapshot) as server:
                print(f"open {server.address} (Ctrl-C ends)", flush=True)
                server.serve_forever()
        runs.wait()
    except KeyboardInterrupt:
        pass
    finally:
        runs.stop()
    states = runs.snapshot()
    for state in states:
        last = f"{state['losses'][-1]:.9f}" if state["losses"] else "none"
        print(f"{state['name']:10} {state['device']:20} last loss {last:12} {state['status']}")
    return int(any(state["status"] != "done" for state in states))


if __name__ == "__main__":
    sys.exit(main())
