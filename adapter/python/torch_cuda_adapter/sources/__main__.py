"""The command: `python -m torch_cuda_adapter.sources --platform musa --out translated kernel.cu`.

Exit status: 0 if all was translated, 1 if somebody has to look at something, 2 if no source was
written.
"""

from __future__ import annotations

import argparse
import difflib
import os
import pathlib
import sys
from collections.abc import Sequence

from torch_cuda_adapter import platforms
from torch_cuda_adapter.errors import AdapterError
from torch_cuda_adapter.sources import cache, files, report
from torch_cuda_adapter.sources.rules import Rules

_PROGRAM = "torch_cuda_adapter.sources"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: without the program's name; those of the process by default.

    Returns:
        The exit status.
    """
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except AdapterError as error:
        print(f"{_PROGRAM}: {error}", file=sys.stderr)
    except OSError as error:
        print(f"{_PROGRAM}: cannot write {error.filename}: {error.strerror}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {_PROGRAM}",
        description="Translates C++ and CUDA sources to the names of another platform.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="the sources")
    parser.add_argument(
        "--platform",
        required=True,
        help=f"one of {', '.join(platforms.names())}; or a file of your own that ends in .toml",
    )
    parser.add_argument("--out", metavar="DIR", help="the folder for the translations")
    parser.add_argument(
        "--in-place",
        action="store_true",
        help="change the sources, and the headers of theirs below their folders",
    )
    parser.add_argument("--diff", action="store_true", help="show what changes")
    parser.add_argument(
        "-I",
        dest="include_folders",
        metavar="DIR",
        action="append",
        default=[],
        help="a folder with headers of your own, which are translated as well",
    )
    parser.add_argument(
        "--own",
        dest="own_folders",
        metavar="DIR",
        action="append",
        default=[],
        help="as -I, and --in-place may change the headers below it",
    )
    parser.add_argument("--report", metavar="FILE", help="write a report in JSON")
    parser.add_argument("--no-cache", action="store_true", help="translate everything again")
    return parser


def _run(options: argparse.Namespace) -> int:
    if options.out is not None and options.in_place:
        raise AdapterError("found --out and --in-place; needed one of them")
    if options.out is None and not options.in_place and not options.diff:
        raise AdapterError("found no place to write to; needed --out DIR, --in-place or --diff")
    rules = Rules(platforms.load(options.platform))
    translated = files.translate_files(
        options.files,
        rules,
        out=options.out,
        include_folders=options.include_folders,
        own_folders=options.own_folders,
        cache=cache.Cache(None if options.no_cache else cache.folder()),
    )
    if options.diff:
        _show(translated)
    findings = [finding for file in translated for finding in file.findings]
    for finding in findings:
        print(finding, file=sys.stderr)
    if options.report:
        counts = {str(file.source): file.translated for file in translated}
        text = report.as_json(rules.platform.name, findings, counts)
        pathlib.Path(options.report).write_text(text, encoding="utf-8")
    if options.out is not None or options.in_place:
        files.write(translated, in_place=options.in_place)
    still_open = sum(finding.is_open for finding in findings)
    names = sum(file.translated.total() for file in translated)
    print(
        f"{_PROGRAM}: {len(translated)} files for {rules.platform.name}: {names} names translated, "
        f"{len(findings) - still_open} of them assumed; {still_open} left as they were",
        file=sys.stderr,
    )
    return 1 if still_open else 0


def _show(translated: Sequence[files.TranslatedFile]) -> None:
    """Prints what changes, as `diff -u` does."""
    for file in translated:
        lines = difflib.diff_bytes(
            difflib.unified_diff,
            file.before.splitlines(keepends=True),
            file.after.splitlines(keepends=True),
            os.fsencode(os.path.relpath(file.source)),
            os.fsencode(os.path.relpath(file.target)),
        )
        for line in lines:
            sys.stdout.buffer.write(line)
            if not line.endswith((b"\n", b"\r")):
                sys.stdout.buffer.write(b"\n\\ No newline at end of file\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
