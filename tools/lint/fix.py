"""Formats the whole workspace and repairs what can be repaired: ./bazelw run //tools/lint:fix."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.lint import checks, rules, workspace


def tidy(root: Path) -> None:
    """Applies the rule "whitespace" to every text file of the workspace."""
    for path in workspace.files(root):
        file = root / path
        text = rules.SourceFile(path, file.read_bytes()).text()
        if text is not None and rules.tidy(path, text) != text:
            file.write_text(rules.tidy(path, text), encoding="utf-8", newline="\n")


def main() -> int:
    """Runs all repairs and returns the exit status: 1 where a tool failed."""
    status = 0
    try:
        root = workspace.root()
        for name, check in checks.CHECKS.items():
            report = checks.fix(check, root)
            if report:
                print(f"{name}:\n{report}", file=sys.stderr)
                status = 1
        tidy(root)
    except (checks.ToolError, workspace.WorkspaceError) as error:
        print(error, file=sys.stderr)
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
