"""Runs one check on the workspace: check.py NAME, with NAME from checks.CHECKS, "forbidden" or "pages".

The exit status is 1 where something is wrong; what to do is printed then.
"""

from __future__ import annotations

import os
import pwd
import sys
from pathlib import Path

from tools.lint import checks, hosts, pages, rules, workspace


def forbidden(root: Path) -> str:
    """Applies rules.py to every file of the workspace; returns the faults, a line each."""
    home = pwd.getpwuid(os.getuid()).pw_dir
    configured = hosts.configured(os.environ, hosts.configuration_files(Path(home)))
    # A short path such as "/src" would be found in the middle of others.
    folders = tuple(path for path in (str(root), home) if len(path) > len("/root/"))
    machine = rules.Machine(hosts=hosts.pattern(configured), folders=folders)
    sources = (rules.SourceFile(path, (root / path).read_bytes()) for path in workspace.files(root))
    exceptions = rules.load_exceptions(root / "tools/lint/exceptions.toml")
    return "\n".join(map(str, rules.check(sources, machine, exceptions)))


def documentation(root: Path) -> str:
    """Applies pages.py to every page of the workspace; returns the faults, a line each."""
    paths = workspace.files(root)
    texts = {
        path: (root / path).read_text(encoding="utf-8") for path in paths if pages.is_page(path)
    }
    return "\n".join(map(str, pages.check(texts, paths)))


def main(arguments: list[str]) -> int:
    """Runs the check that the one argument names and returns the exit status."""
    (name,) = arguments
    try:
        root = workspace.root()
        if name == "forbidden":
            report = forbidden(root)
        elif name == "pages":
            report = documentation(root)
        else:
            report = checks.test(checks.CHECKS[name], root)
    except (checks.ToolError, workspace.WorkspaceError, ValueError) as error:
        report = str(error)
    if not report:
        return 0
    print(report)
    print(f"\n{name}: see above. What can be repaired: ./bazelw run //tools/lint:fix")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
