"""Programs that used CUDA end as they should: exit status 0, in good time, and without a word.

At the end of a process Python's objects go first, then what the static initialisers of all libraries registered, in the
reverse of the order in which they ran: every global that asks another one for something at that time is in these programs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

from absl.testing import absltest, parameterized

from tests.device_behaviour import programs

# What one process leaves behind.
ALONE = {
    "import": "",
    "query": "torch.cuda.is_available(); torch.cuda.get_device_properties(0)",
    "tensor": "x = torch.ones(4, device='cuda')",
    "freed_tensor": "x = torch.ones(4, device='cuda'); del x",
    "emptied_cache": "x = torch.ones(4, device='cuda'); del x; torch.cuda.empty_cache()",
    "streams_and_events": """
        streams = [torch.cuda.Stream() for _ in range(40)]
        event = torch.cuda.Event(enable_timing=True)
        with torch.cuda.stream(streams[0]):
            x = torch.ones(4, device="cuda")
            event.record()
        x.record_stream(streams[1])
    """,
    "pinned_memory": """
        pinned = torch.ones(4).pin_memory()
        x = pinned.to("cuda", non_blocking=True)
    """,
    "graph": """
        x = torch.ones(4, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = x + x
        graph.replay()
    """,
    "memory_pool": """
        pool = torch.cuda.MemPool()
        with torch.cuda.use_mem_pool(pool):
            x = torch.ones(4, device="cuda")
    """,
    "memory_history": """
        torch.cuda.memory._record_memory_history()
        x = torch.ones(4, device="cuda")
    """,
    "products": "x = torch.ones(4, 4, device='cuda'); y = x @ x",
    "plans_of_transforms": "torch.backends.cuda.cufft_plan_cache[0].max_size = 4",
    "random_numbers": """
        generator = torch.Generator("cuda").manual_seed(1)
        x = torch.rand(4, device="cuda", generator=generator)
        state = torch.cuda.get_rng_state()
    """,
    "backward": "x = torch.ones(4, device='cuda', requires_grad=True); (x * x).sum().backward()",
    "graph_of_autograd": "x = torch.ones(4, device='cuda', requires_grad=True); y = (x * x).sum()",
    "training": """
        model = torch.nn.Linear(4, 2).to("cuda")
        optimizer = torch.optim.Adam(model.parameters())
        model(torch.ones(3, 4, device="cuda")).sum().backward()
        optimizer.step()
    """,
    "script": """
        scripted = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()).cuda())
        for _ in range(3):
            y = scripted(torch.ones(2, 4, device="cuda"))
    """,
    "capsule": "capsule = torch.utils.dlpack.to_dlpack(torch.ones(4, device='cuda'))",
    "profile_of_the_cpu": """
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
            x = torch.ones(4, device="cuda")
    """,
    "at_exit": """
        import atexit
        atexit.register(lambda: torch.ones(4, device="cuda").sum().item())
        x = torch.ones(4, device="cuda")
    """,
    "finaliser": """
        class Last:
            def __init__(self):
                self.x = torch.ones(4, device="cuda")
                self.itself = self
            def __del__(self):
                assert self.x.sum().item() == 4
        last = Last()
    """,
    "thread": """
        import threading
        def use():
            with torch.cuda.stream(torch.cuda.Stream()):
                assert torch.ones(4, device="cuda").sum().item() == 4
        threading.Thread(target=use).start()
    """,
    "forked_before": """
        if os.fork() == 0:
            x = torch.ones(4, device="cuda")
            sys.exit()
        assert os.wait()[1] == 0
    """,
    "forked_after": """
        import warnings
        warnings.filterwarnings("ignore", "This process .* is multi-threaded")
        x = torch.ones(4, device="cuda")
        if os.fork() == 0:
            sys.exit()
        assert os.wait()[1] == 0
    """,
}

# What two processes share: what the child does with a queue to its parent and with an event, on which it may wait, and
# what its parent does.
SHARED = {
    "sent_and_dropped": ("queue.put(tensor()); event.wait()", "queue.get(); event.set()"),
    "sent_and_kept": ("x = tensor(); queue.put(x); event.wait()", "queue.get(); event.set()"),
    "sent_and_kept_there": (
        "queue.put(tensor()); event.wait()",
        "global y; y = queue.get(); event.set()",
    ),
    "received_and_dropped": ("queue.get()", "x = tensor(); queue.put(x); child.join()"),
    "received_and_kept": (
        "global y; y = queue.get()",
        "x = tensor(); queue.put(x); child.join()",
    ),
    "sent_and_dropped_by_the_parent": ("queue.get()", "queue.put(tensor()); child.join()"),
    "views": (
        "x = tensor(); queue.put(x[:2]); queue.put(x[2:]); event.wait()",
        "queue.get(); queue.get(); event.set()",
    ),
    "many": (
        "[queue.put(tensor()) for _ in range(20)]; event.wait()",
        "[queue.get() for _ in range(20)]; event.set()",
    ),
    "model": (
        "queue.get()(tensor())",
        "x = torch.nn.Linear(4, 2).cuda().share_memory(); queue.put(x); child.join()",
    ),
    "event": (
        "e = torch.cuda.Event.from_ipc_handle(0, queue.get()); e.synchronize()",
        "e = torch.cuda.Event(interprocess=True); e.record(); queue.put(e.ipc_handle()); child.join()",
    ),
}

# The child is forked before either uses CUDA, so that both have the import that is shared; and it ends as a program of
# its own does, which one that multiprocessing forks would not.
_TWO_PROCESSES = """
import os, sys, torch
import torch.multiprocessing as mp

class Child:
    def __init__(self, pid):
        self.pid = pid
        self.status: int | None = None  # until it is joined

    def join(self):
        _, self.status = os.waitpid(self.pid, 0)

def tensor():
    return torch.ones(4, device="cuda")

def first(queue, event):
    {child}

def second(queue, event, child):
    {parent}

context = mp.get_context("fork")
queue, event = context.Queue(), context.Event()
pid = os.fork()
if pid == 0:
    first(queue, event)
else:
    child = Child(pid)
    second(queue, event, child)
    if child.status is None:
        child.join()
    sys.exit(os.waitstatus_to_exitcode(child.status))
"""

_LOADER = """
import torch

class Tensors(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.full((3,), index, device="cuda")

if __name__ == "__main__":
    loader = torch.utils.data.DataLoader(
        Tensors(), batch_size=2, num_workers=2, multiprocessing_context="spawn"
    )
    assert sum(batch.sum().item() for batch in loader) == 3 * 28
"""

# The case in which stock PyTorch, too, has something to say.
_WARNING = "Producer process has been terminated before all shared CUDA tensors released."


class ExitTest(parameterized.TestCase):
    def _assert_ends_well(self, done: subprocess.CompletedProcess[str]) -> None:
        lines = [line for line in done.stderr.splitlines() if _WARNING not in line]
        self.assertEqual((done.returncode, lines), (0, []))

    @parameterized.named_parameters(*ALONE.items())
    def test_alone(self, program: str) -> None:
        self._assert_ends_well(programs.run("import os, sys, torch\n" + textwrap.dedent(program)))

    @parameterized.named_parameters((name, *both) for name, both in SHARED.items())
    def test_shared(self, child: str, parent: str) -> None:
        self._assert_ends_well(programs.run(_TWO_PROCESSES.format(child=child, parent=parent)))

    def test_loader(self) -> None:
        # Workers that are spawned import the program's file.
        file = self.create_tempfile("program.py", _LOADER)
        self._assert_ends_well(
            subprocess.run(
                [sys.executable, file.full_path],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )
        )


if __name__ == "__main__":
    absltest.main()
