"""What `torch.compile` with inductor makes for the stand-in: C++, as for the CPU, launched in the device's streams.

Only `registration` is imported before inductor is; the others import it.
"""
