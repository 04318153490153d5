"""What an observed program tells, one line of JSON each, and the state that a page shows of it.

A line is an object with `kind` and:
  begin     device: what the device calls itself
  loss      step, loss
  memory    bytes: allocated on the device
  operators counts: calls by operator; servers: who serves each (see observe.py)
  timeline  lanes: names to lists of [microseconds from the first, duration, text]
  error     text
"""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass
class State:
    """What is known of one device's run.

    Attributes:
      name: as TORCH_CUDA_DEVICES has it, or "cpu".
      device: what the device calls itself; empty until the program has begun.
      losses: by step.
      memory: bytes allocated on the device, by step.
      operators: calls by operator.
      servers: who serves each operator.
      lanes: of the timeline.
      status: "waiting", "running", "done", or what went wrong.
    """

    name: str
    device: str = ""
    losses: list[float] = dataclasses.field(default_factory=list)
    memory: list[int] = dataclasses.field(default_factory=list)
    operators: dict[str, int] = dataclasses.field(default_factory=dict)
    servers: dict[str, str] = dataclasses.field(default_factory=dict)
    lanes: dict[str, list[list[Any]]] = dataclasses.field(default_factory=dict)
    status: str = "waiting"

    def take(self, event: dict[str, Any]) -> None:
        """Takes over what an event says."""
        match event["kind"]:
            case "begin":
                self.device, self.status = str(event["device"]), "running"
            case "loss":
                self.losses.append(float(event["loss"]))
            case "memory":
                self.memory.append(int(event["bytes"]))
            case "operators":
                self.operators, self.servers = event["counts"], event["servers"]
            case "timeline":
                self.lanes = event["lanes"]
            case "error":
                self.status = str(event["text"])
