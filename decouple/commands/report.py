"""decouple report: one self-contained page about a tree's device code."""

from __future__ import annotations

import argparse
import pathlib

from decouple import output
from decouple.commands import options
from decouple.plan.plan import make_plan
from decouple.report.data import page_data
from decouple.report.page import render

HELP = "write a page that shows what the device's code is made of"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    options.add_tree(parser)
    options.add_owners(parser)
    parser.add_argument(
        "--html", type=pathlib.Path, required=True, metavar="FILE", help="the page to write"
    )


def run(args: argparse.Namespace) -> int:
    """Scans the tree and writes the page."""
    scanned = options.scan_tree(args)
    plan = make_plan(scanned.inventory, options.owners(args))
    page = render(page_data(scanned.tree, scanned.inventory, plan))
    file = options.working_path(args.html)
    output.write_text(file, page)
    print(f"{file}: {len(page) / 1e6:.1f} MB, opens in any browser, needs no network")
    options.print_gaps(scanned.tree.gaps.all())
    return 0
