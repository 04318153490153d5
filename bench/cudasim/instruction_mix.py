"""Which instructions training steps execute on the simulated device, as tables.

    ./bazelw run //bench/cudasim:instruction_mix
    ./bazelw run //bench/cudasim:instruction_mix -- --models lstm,sort --steps 3 --rows 50

Each model trains in a process of its own (bench/cudasim/models.py), interpreted, with CUDASIM_COUNT. The tables weigh
models alike. Instructions are those of warps: one for all lanes that execute it together.
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile

from bench.cudasim import mix, models
from bench.cudasim.trainer import Trainer


def count(name: str, more: int, steps: int) -> list[mix.Line]:
    """Trains a model, and counts.

    Args:
        name: of the model.
        more: how many times the usual number of examples a step has.
        steps: how many to take, all of which are counted.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "counts")
        trainer = Trainer(name, more, {"CUDASIM_NATIVE": "off", "CUDASIM_COUNT": str(file)})
        trainer.steps(steps)
        trainer.end()
        return mix.read(file.read_text(encoding="utf-8"))


def _is_of(space: str, row: str) -> bool:
    words = row.split(".")
    return words[0] in ("ld", "st", "atom", "red", "ldu") and space in words


def _print_table(head: str, rows: dict[str, list[str]]) -> None:
    print(f"| model | {head} |")
    print("|---" * (head.count("|") + 2) + "|")
    for name, cells in rows.items():
        print(f"| `{name}` | {' | '.join(cells)} |")
    print()


def print_models(counts: dict[str, list[mix.Line]], steps: int) -> None:
    """Two tables of models: how much, how parted, how hot; and how addresses lie."""
    rows = {}
    patterns = {}
    for name, lines in counts.items():
        functions = mix.totals(lines, lambda line: line.function)
        whole = functions.total()
        rows[name] = [
            f"{whole / steps / 1e6:.2f}",
            f"{sum(line.full for line in lines) / whole:.1%}",
            str(mix.most(functions.values(), 0.9)),
            str(mix.most([line.warps for line in lines], 0.9)),
            f"{mix.share(lines, lambda line: _is_of('local', line.row)):.2%}",
            f"{mix.share(lines, lambda line: line.row.startswith('call')):.2%}",
        ]
        accesses = [line for line in lines if line.pattern != "none"]
        patterns[name] = [
            f"{mix.share(lines, lambda line: line.pattern != 'none'):.1%}",
            *(f"{mix.share(accesses, mix.has_pattern(pattern)):.1%}" for pattern in mix.PATTERNS),
        ]
    head = "a step, millions | all 32 lanes | 90 % in kernels | at places | local memory | calls"
    _print_table(head, rows)
    _print_table("accesses | " + " | ".join(mix.PATTERNS), patterns)


def print_rows(counts: dict[str, list[mix.Line]], rows: int) -> None:
    """The rows of PTX by their part of the instructions, of all models alike."""
    parts = {name: mix.by_row(lines) for name, lines in counts.items()}
    means: dict[str, float] = {}
    for of_model in parts.values():
        for row, part in of_model.items():
            means[row] = means.get(row, 0.0) + part / len(parts)
    few = ", ".join(
        f"{mix.most(means.values(), part)} are {part:.0%}" for part in (0.9, 0.95, 0.99)
    )
    print(f"{len(means)} rows were executed; {few}.")
    print()
    print("| row | of all instructions | at most, in |")
    print("|---|---|---|")
    for row in sorted(means, key=lambda row: -means[row])[:rows]:
        name = max(parts, key=lambda name: parts[name].get(row, 0.0))
        print(f"| `{row}` | {means[row]:.1%} | {parts[name][row]:.1%} in `{name}` |")


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", help="names, with commas between them")
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument(
        "--more", type=int, default=1, help="times the usual number of examples a step"
    )
    parser.add_argument("--rows", type=int, default=40, help="of the second table")
    options = parser.parse_args()
    if options.steps < 1:
        parser.error(f"--steps is {options.steps}: take one step at least")
    names = options.models.split(",") if options.models else list(models.models(1))
    counts = {name: count(name, options.more, options.steps) for name in names}
    print_models(counts, options.steps)
    print_rows(counts, options.rows)


if __name__ == "__main__":
    main()
