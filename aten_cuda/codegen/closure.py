"""Whether a profile's kernel files are exactly what its operators need.

    closure.py check  --pytorch-root DIR --profile FILE     verdict on a profile; exit status 1 when it is not closed
    closure.py build  --pytorch-root DIR --profile FILE --out FILE
                                                            the verdict as builds take it: exit status 1 where a program
                                                            would fail at run time, the rest are warnings
    closure.py needs  --pytorch-root DIR OPERATOR...        the files that operators need
    closure.py offers --pytorch-root DIR --profile FILE     operators that its files could serve as well

A profile is closed when each of its operators finds its kernel, the dispatch stubs that this kernel uses, the files
that those refer to, and the operators that it calls; and when every file is there for some operator. What is
missing in a link is found by the linker too; a stub or an operator that is missing is found at run time only.
reach.py tells how this is known. `--index` names what index.py wrote, instead of reading the sources again.
"""

from __future__ import annotations

import argparse
import difflib
import fnmatch
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aten_cuda.codegen.operators import Operator, Operators, TorchgenError
from aten_cuda.codegen.reach import Sources
from aten_cuda.codegen.selection import (
    Entries,
    Profile,
    ProfileError,
    Selected,
    Selection,
    resolve,
)
from aten_cuda.codegen.source_index import IndexFileError, PreprocessorError, SourceIndex

SUBSTITUTES = {
    "native/cuda/RowwiseScaledMM.cu": "aten_cuda/codegen/substitutes/rowwise_scaled_mm.cpp",
}
"""Files that others refer to from functions that a profile may leave out; ours defines what they would."""


RUNTIME_KERNELS = "RUNTIME_KERNELS (aten_cuda/profiles/defs.bzl)"
"""Where the files are named that every build has."""


@dataclass
class Verdict:
    """What is wrong with a profile.

    Attributes:
        problems: one sentence each, with what to type; none when the profile is closed.
        fatal: those that no link finds and no program survives: a kernel or a stub that nothing defines, a file that
            is not there.
    """

    problems: list[str] = field(default_factory=list)
    fatal: list[str] = field(default_factory=list)

    @property
    def closed(self) -> bool:
        """Whether there is nothing to say."""
        return not self.problems


def check(sources: Sources, profile: Profile) -> Verdict:
    """Holds a profile's operators against its kernel files, in both directions.

    Raises:
        ProfileError: an operator or pattern is unknown.
    """
    return _Check(sources, profile).run()


class _Check:
    """One run of `check`."""

    def __init__(self, sources: Sources, profile: Profile) -> None:
        self._sources = sources
        self._profile = profile
        self._operators = sources.operators
        self._selected = resolve(profile, self._operators)
        self._have = (profile.kernels | profile.runtime_kernels) & sources.kernel_files()
        self._missing: dict[str, set[str]] = {}  # what is not there -> who needs it
        self._reached = set(profile.runtime_kernels)  # kernel files
        self._left_out: set[str] = set()  # entries of profile.left_out that stood for something
        self._problems: list[str] = []
        self._fatal: list[str] = []
        self._empty_stubs: set[str] = set()  # of self._missing
        cuda = [self._operators[name] for name in self._selected["CUDA"]]
        self._registered = {op.base for op in cuda}
        self._ufunc_stubs = {f"{op.stem}_stub" for op in cuda if op.kernels["CUDA"].ufunc}
        self._overloads: dict[str, list[Operator]] = {}
        for op in self._operators:
            self._overloads.setdefault(op.base, []).append(op)

    def run(self) -> Verdict:
        given = self._profile.kernels | self._profile.runtime_kernels
        for path in sorted(given - self._have):
            near = _near(path, self._sources.kernel_files() - given)
            hint = f", or name what took its place (near: {', '.join(near)})" if near else ""
            where = "kernels has" if path in self._profile.kernels else f"{RUNTIME_KERNELS} have"
            self._fatal.append(
                f"{where} {path}, which is no kernel file of this PyTorch; remove it{hint}"
            )
        self._follow_operators()
        self._follow_files()
        for what, who in sorted(self._missing.items()):
            names = sorted(who, key=lambda name: (len(name), name))
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            problems = self._fatal if what in self._empty_stubs else self._problems
            problems.append(f"{what}: needed by {', '.join(names[:3])}{more}")
        for path in sorted(self._have - self._reached):
            self._problems.append(
                f"{path} is among kernels, but no operator needs it; remove it or add its operators"
            )
        for entry in sorted(self._profile.left_out - self._left_out):
            self._problems.append(f"left_out has {entry}, but nothing leads to it; remove it")
        return Verdict(self._fatal + self._problems, self._fatal)

    def _follow_operators(self) -> None:
        """From the profile's operators to files and stubs, through composed operators that they call."""
        pending = [
            (op, backend, op.name)
            for op, backend in named(self._profile, self._selected, self._operators)
        ]
        seen = {op.name for op, _, _ in pending}
        while pending:
            op, backend, chain = pending.pop(0)
            try:
                needs = self._sources.of_operator(op, backend)
            except KeyError as error:
                self._fatal.append(str(error.args[0]))
                continue
            self._want_files(needs.files, chain)
            for stub in needs.stubs:
                self._want_stub(stub, chain)
            for call in needs.calls:
                overloads = self._overloads[call]
                if any("CUDA" in overload.kernels for overload in overloads):
                    if not self._is_left_out(call) and call not in self._registered:
                        self._miss(
                            f'operator {call} is not registered; add "{call}" to operators', chain
                        )
                    continue
                for overload in overloads:
                    if overload.composites and overload.name not in seen:
                        seen.add(overload.name)
                        pending.append((overload, backend, f"{chain} > {overload.name}"))

    def _follow_files(self) -> None:
        """From the files so far to those that they refer to."""
        pending = sorted(self._reached & self._have)
        done: set[str] = set()
        while pending:
            path = pending.pop()
            if path in done:
                continue
            done.add(path)
            needs = self._sources.of_file(path)
            self._want_files(needs.files - SUBSTITUTES.keys(), path)
            for name in sorted(needs.direct - self._registered):
                self._miss(f'at::cuda::{name} is not generated; add "{name}" to operators', path)
            pending += sorted(needs.files & self._have - done)

    def _want_files(self, files: Iterable[str], who: str) -> None:
        for path in files:
            self._reached.add(path)
            if path not in self._have:
                self._miss(f'{path} is not compiled; add "{path}" to kernels', who)

    def _want_stub(self, stub: str, who: str) -> None:
        if stub in self._ufunc_stubs:
            return
        files = self._sources.stub_files(stub)
        self._reached.update(files)
        # Asked first: what one profile does without, another that has it among its deps may serve.
        if self._is_left_out(stub) or files & self._have:
            return
        fill = " or ".join(f'"{path}"' for path in sorted(files))
        where = f"add {fill} to kernels" if files else "add its operator to operators"
        what = f"{stub} has no CUDA kernel; {where}"
        self._empty_stubs.add(what)
        self._miss(what, who)

    def _is_left_out(self, name: str) -> bool:
        entries = {e for e in self._profile.left_out if fnmatch.fnmatchcase(name, e)}
        self._left_out |= entries
        return bool(entries)

    def _miss(self, what: str, who: str) -> None:
        self._missing.setdefault(what, set()).add(who)


def _near(path: str, files: Iterable[str]) -> list[str]:
    """Those of some files whose names are like a path's; what folders they share says little."""
    names: dict[str, list[str]] = {}
    for file in sorted(files):
        names.setdefault(Path(file).stem, []).append(file)
    alike = difflib.get_close_matches(Path(path).stem, names, n=3, cutoff=0.7)
    return [file for name in alike for file in names[name]]


def named(
    profile: Profile, selected: Selected, operators: Operators
) -> Iterator[tuple[Operator, str]]:
    """The operators that a profile stands for: those it registers, and the composed ones that it names."""
    for backend, names in selected.items():
        for name in sorted(names):
            yield operators[name], backend
    entries = Entries(operators)
    for selection in profile.selections:
        patterns = [entry for entry in selection.operators if not entry.startswith("!")]
        meant = {op.name for pattern in patterns for op in entries.meant_by(pattern)}
        for op in operators:
            if "CUDA" not in op.kernels and op.name in meant:
                yield op, "CUDA"


def offers(sources: Sources, profile: Profile) -> list[str]:
    """Operators that are not in a profile although its kernel files have all they need, sorted.

    What such an operator calls through the dispatcher is not looked at; `check` does once it is added.
    """
    have = profile.kernels | profile.runtime_kernels
    selected = resolve(profile, sources.operators)
    found: list[str] = []
    for op in sources.operators:
        if "CUDA" not in op.kernels or op.name in selected["CUDA"]:
            continue
        try:
            needs = sources.of_operator(op, "CUDA")
        except KeyError:
            continue
        if needs.files <= have and all(sources.stub_files(stub) & have for stub in needs.stubs):
            found.append(op.name)
    return sorted(found)


def needed_files(sources: Sources, profile: Profile) -> list[str]:
    """The kernel files that a profile's operators need, whatever its own list says, sorted.

    Where several files fill a stub, all of them are in it.
    """
    found: set[str] = set()
    selected = resolve(profile, sources.operators)
    for op, backend in named(profile, selected, sources.operators):
        needs = sources.of_operator(op, backend)
        found |= needs.files
        found.update(path for stub in needs.stubs for path in sources.stub_files(stub))
    pending = list(found)
    while pending:
        more = sources.of_file(pending.pop()).files - found
        found |= more
        pending += more
    return sorted(found)


def unheard_of(sources: Sources, core: Profile, outside: Iterable[str]) -> list[str]:
    """Kernel files that neither core names nor the list of those it leaves out, sorted: this PyTorch brought them.

    Args:
        sources: the sources.
        core: the profile.
        outside: files below aten/src/ATen that core knowingly leaves out.
    """
    return sorted(sources.kernel_files() - core.kernels - core.runtime_kernels - set(outside))


def _build(sources: Sources, profile: Profile, out: Path, core: str, outside: Path) -> int:
    """Writes the verdict, and says what of it a build has to know; returns the exit status."""
    verdict = check(sources, profile)
    listed = [line for line in outside.read_text(encoding="utf-8").splitlines() if line]
    for path in unheard_of(sources, Profile.load(core), listed):
        print(f"{path} is in no profile but full: this PyTorch brought it (docs/porting.md)")
    for problem in verdict.problems:
        kind = "error" if problem in verdict.fatal else "warning"
        print(f"{profile.name}: {kind}: {problem}", file=sys.stderr)
    out.write_text("".join(f"{problem}\n" for problem in verdict.problems), encoding="utf-8")
    return 1 if verdict.fatal else 0


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("command", choices=("build", "check", "needs", "offers"))
    parser.add_argument("operators", nargs="*", help="for needs: names or patterns")
    parser.add_argument(
        "--pytorch-root", type=Path, required=True, help="folder with torchgen, aten"
    )
    parser.add_argument("--profile", help="for check, build and offers: a NAME.profile.json")
    parser.add_argument("--index", type=Path, action="append", help="a file that index.py wrote")
    parser.add_argument("--out", type=Path, help="for build: the verdict, to write")
    parser.add_argument("--core", help="for build: the NAME.profile.json of core")
    parser.add_argument("--outside", type=Path, help="for build: the files that core leaves out")
    args = parser.parse_args(argv)
    if args.command == "build" and not (args.out and args.core and args.outside):
        parser.error("build takes --out, --core and --outside")
    if args.command == "needs":
        if args.profile or not args.operators:
            parser.error("needs takes operators and no --profile")
    elif args.operators or not args.profile:
        parser.error(f"{args.command} takes --profile and no operators")
    try:
        if args.command == "needs":
            given = Selection("command line", tuple(args.operators))
            profile = Profile(name="command line", selections=(given,))
        else:
            profile = Profile.load(args.profile)
        operators = Operators(args.pytorch_root)
        if args.index:
            sources = Sources(operators, SourceIndex.read(args.index))
        else:
            sources = Sources.scan(operators)
        if args.command == "build":
            return _build(sources, profile, args.out, args.core, args.outside)
        if args.command == "check":
            lines = check(sources, profile).problems
        elif args.command == "needs":
            lines = needed_files(sources, profile)
        else:
            lines = offers(sources, profile)
    except (IndexFileError, PreprocessorError, ProfileError, TorchgenError) as error:
        print(error, file=sys.stderr)
        return 1
    for line in lines:
        print(line)
    return 1 if args.command == "check" and lines else 0


if __name__ == "__main__":
    sys.exit(main())
