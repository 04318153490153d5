"""Checks the messages of the commits that a branch adds: ./bazelw run //tools/lint:commits [-- --base=COMMIT].

Without a base, it checks what came after the commit `SINCE`: older messages have other forms. Merges are left out, as
git writes their messages. CONTRIBUTING.md has the rules.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.lint import workspace

SINCE = "8d865818980255fb9de837ceb76b0cf59a47668f"
MAX_SUBJECT = 72

_LEFTOVER = re.compile(r"(?:wip|tmp|formatted|formatting)\b|(?:fixup|squash|amend)!", re.IGNORECASE)
# The folder or part that a commit changes, in front of the imperative.
_COMPONENT = re.compile(r"[a-z][\w./-]*: ")
_TRAILER = re.compile(r"^[A-Z][A-Za-z-]+: \S")
# A word that is no command: an article or its like, a form in -s, -ed or -ing, somebody's. A noun passes.
_NOT_IMPERATIVE = re.compile(
    r"(?:a|all|an|and|another|both|but|by|each|every|for|from|how|if|in|it|no|now|of|on|one|only|our|some|that|the|their"
    r"|these|they|this|those|to|two|what|when|where|which|who|why|with|we"
    r"|\w+['’]s?|\w*[^s\W]s|\w*[^e\W]ed|\w{3,}ing)",
    re.IGNORECASE,
)
# They look like a form in -s, -ed or -ing.
_IMPERATIVE = frozenset(("alias", "bias", "canvas", "embed", "focus", "shed", "string"))


class HistoryError(Exception):
    """The commits cannot be told; the text says what to do."""


@dataclass(frozen=True)
class Commit:
    """One commit.

    Attributes:
        name: its short name.
        subject: the first line of its message.
        body: the other lines.
    """

    name: str
    subject: str
    body: str


def faults(commits: Sequence[Commit]) -> Iterator[str]:
    """What is wrong with the messages of these commits, a line each."""
    times = Counter(commit.subject for commit in commits)
    for commit in commits:
        wrong = list(_faults(commit))
        if times[commit.subject] > 1:
            wrong.append("the subject of another commit as well: make them one commit")
        yield from (f'{commit.name} "{commit.subject}": {text}' for text in wrong)


def _faults(commit: Commit) -> Iterator[str]:
    subject = commit.subject
    component = _COMPONENT.match(subject)
    first = (subject[component.end() if component else 0 :].split() or [""])[0]
    if len(subject) > MAX_SUBJECT:
        yield f"{len(subject)} characters; at most {MAX_SUBJECT}"
    if _LEFTOVER.match(subject):
        yield "a leftover: make it a part of the commit that it belongs to"
    elif not first[:1].isupper() or not first.isalpha() or not _is_command(first):
        yield f'"{first}" does not begin an imperative, such as "Add", "Name" or "Refuse"'
    if ";" in subject:
        yield 'several things, joined by ";": make a commit of each'
    if subject.endswith("."):
        yield "ends with a full stop"
    if all(not line.strip() or _TRAILER.match(line) for line in commit.body.splitlines()):
        yield "no body: say why the change is needed"


def _is_command(word: str) -> bool:
    return word.lower() in _IMPERATIVE or not _NOT_IMPERATIVE.fullmatch(word)


def read(root: Path, base: str) -> list[Commit]:
    """The commits of the current branch that `base` does not have, the oldest first; no merges.

    Args:
        root: the workspace.
        base: a commit or branch.

    Raises:
        HistoryError: there is no such commit, or no history at all.
    """
    git = ["git", "-c", f"safe.directory={root}", "-C", str(root)]
    form = "--format=%h%x00%s%x00%b"
    try:
        # In a shallow clone a base may be known that the branch does not lead to: all would count as new.
        for command in (
            ["merge-base", base, "HEAD"],
            ["log", "--no-merges", "-z", form, f"{base}.."],
        ):
            done = subprocess.run([*git, *command], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise HistoryError(
            f"found no {base} in the history of this branch; needed a clone with it (git fetch --unshallow), "
            "or --base=COMMIT"
        ) from error
    fields = done.stdout.split("\0")[:-1]
    return [Commit(*fields[at : at + 3]) for at in range(0, len(fields), 3)][::-1]


def main(arguments: Sequence[str]) -> int:
    """Runs the command line and returns the exit status: 1 where a message is wrong or no commit can be told."""
    parser = argparse.ArgumentParser(prog="./bazelw run //tools/lint:commits --")
    parser.add_argument("--base", help="the commit or branch that the branch begins at")
    base = parser.parse_args(arguments).base
    try:
        commits = read(workspace.root(), base or SINCE)
    except HistoryError as error:
        print(error)
        # An archive and a shallow clone are no fault, a base that somebody names is.
        return 1 if base else 0
    except workspace.WorkspaceError as error:
        print(error)
        return 1
    wrong = list(faults(commits))
    print(*wrong, f"{len(commits)} commits checked, {len(wrong)} faults", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
