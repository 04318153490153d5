"""Streams and events."""

import torch

torch.cuda.synchronize()
stream = torch.cuda.Stream()
assert stream != torch.cuda.current_stream()
event = torch.cuda.Event(enable_timing=True)
end = torch.cuda.Event(enable_timing=True)
x = torch.ones(1000, device="cuda")
event.record()
stream.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(stream):
    assert torch.cuda.current_stream() == stream
    y = x * 2
    x.record_stream(stream)
end.record(stream)
torch.cuda.current_stream().wait_event(end)
end.synchronize()
assert event.query() and event.elapsed_time(end) >= 0
assert isinstance(stream.cuda_stream, int)
assert torch.cuda.streams.Stream is torch.cuda.Stream
assert float(y.sum()) == 2000
with torch.cuda.stream(None):
    pass
torch.cuda.default_stream().synchronize()
