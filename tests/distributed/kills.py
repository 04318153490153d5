"""Rounds of ranks of which one is killed at a random moment: kills.py ROUNDS SEED.

One process imports torch and forks the ranks of each round, before any of them uses CUDA, so that a round takes a
second or two. Prints a line of JSON for each round: see Round.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import time

import torch
import torch.distributed as dist

TIMEOUT = 8.0
"""Seconds that a rank may wait for the others, in a collective as in the beginning of a group."""
GRACE = 40.0
"""More seconds until a survivor counts as one that hangs: the machine may be busy."""
_GOT_AN_ERROR = 3


@dataclasses.dataclass(frozen=True)
class Round:
    """What became of one round.

    Attributes:
      size: how many ranks there were.
      victim: the one that was killed.
      moment: seconds after the ranks were started.
      codes: exit statuses by rank, as os.waitstatus_to_exitcode gives them; None for one that had to be ended.
      seconds: from the kill to the end of the last survivor.
    """

    size: int
    victim: int
    moment: float
    codes: list[int | None]
    seconds: float

    @staticmethod
    def read(line: str) -> Round:
        """A round from its line of JSON."""
        return Round(**json.loads(line))

    def survivors_that_saw_no_error(self) -> list[int]:
        """Ranks that ended otherwise than by an error: of the call, or of the watchdog, which aborts."""
        errors = (_GOT_AN_ERROR, -signal.SIGABRT)
        return [
            rank
            for rank, code in enumerate(self.codes)
            if rank != self.victim and code not in errors
        ]


def _work(rank: int, size: int, seed: int) -> None:
    """Collectives without an end, the same in all ranks."""
    choose = random.Random(seed)
    while True:
        count = choose.choice((1, 7, 1000, 100_000))
        tensor = torch.full((count,), float(rank), device="cuda")
        many = torch.empty(count * size, device="cuda")
        match choose.randrange(6):
            case 0:
                dist.all_reduce(tensor)
            case 1:
                dist.broadcast(tensor, choose.randrange(size))
            case 2:
                dist.all_gather_into_tensor(many, tensor)
            case 3:
                dist.reduce_scatter_tensor(tensor, many)
            case 4:
                dist.barrier()
            case _:
                to, giver = (rank + 1) % size, (rank - 1) % size
                received = torch.empty_like(tensor)
                operations = [
                    dist.P2POp(dist.isend, tensor, to),
                    dist.P2POp(dist.irecv, received, giver),
                ]
                for work in dist.batch_isend_irecv(operations):
                    work.wait()
        if choose.random() < 0.3:
            torch.cuda.synchronize()


def _rank(rank: int, size: int, seed: int, store: pathlib.Path) -> None:
    """One rank; does not return."""
    try:
        torch.cuda.set_device(rank)
        dist.init_process_group(
            "nccl",
            init_method=f"file://{store}",
            rank=rank,
            world_size=size,
            timeout=datetime.timedelta(seconds=TIMEOUT),
        )
        _work(rank, size, seed)
    except RuntimeError as error:
        print(f"rank {rank}: {error}", file=sys.stderr, flush=True)
        # Not through the group's end, which would wait for the one that is gone.
        os._exit(_GOT_AN_ERROR)
    finally:
        # Whatever else happens: this process is a fork, and what comes after is not its own.
        os._exit(1)


def _wait(children: list[int], until: float) -> list[int | None]:
    """Exit statuses of processes; what runs at that time (of time.monotonic) is killed."""
    codes: dict[int, int] = {}
    while len(codes) < len(children) and time.monotonic() < until:
        for child in children:
            if child not in codes:
                ended, status = os.waitpid(child, os.WNOHANG)
                if ended:
                    codes[child] = os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    for child in set(children) - set(codes):
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return [codes.get(child) for child in children]


def play(choose: random.Random) -> Round:
    """One round.

    Args:
      choose: says how many ranks, which dies, and when.

    Returns:
      What became of it.
    """
    size = choose.choice((2, 2, 3))
    victim, moment, seed = choose.randrange(size), choose.uniform(0.0, 3.0), choose.random()
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for rank in range(size):
            child = os.fork()
            if child == 0:
                _rank(rank, size, int(seed * 1e9), pathlib.Path(folder) / "store")
            children.append(child)
        time.sleep(moment)
        os.kill(children[victim], signal.SIGKILL)
        killed = time.monotonic()
        codes = _wait(children, killed + TIMEOUT + GRACE)
        return Round(size, victim, moment, codes, time.monotonic() - killed)


def main() -> None:
    """Plays the rounds."""
    rounds, seed = int(sys.argv[1]), int(sys.argv[2])
    choose = random.Random(seed)
    for _ in range(rounds):
        print(json.dumps(dataclasses.asdict(play(choose))), flush=True)


if __name__ == "__main__":
    main()
