"""The program `nvidia-smi` for devices of this wheel, as scripts and tests call it.

Its columns, fields, units and exit statuses are those of NVIDIA's program, which asks NVML by a private
table and so runs with NVIDIA's library alone. Where the environment asks for no device, NVIDIA's program
runs, if there is one.
"""

NAME = "nvidia-smi"

NO_DRIVER = 9
"""The exit status where there is no driver, or no device is asked for."""
