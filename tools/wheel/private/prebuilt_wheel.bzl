"""The rule for a wheel that somebody else has built.

Private: load `//tools/wheel:defs.bzl`.
"""

load(":plugin_wheel.bzl", "WheelInfo")

def _prebuilt_wheel_impl(ctx):
    wheel = ctx.file.wheel
    parts = wheel.basename.split("-")
    if len(parts) < 5:
        fail("{}: {} is not named as a wheel, DISTRIBUTION-VERSION-PYTHON-ABI-PLATFORM.whl".format(ctx.label, wheel.basename))
    return [
        DefaultInfo(files = depset([wheel])),
        WheelInfo(distribution = parts[0], version = parts[1], wheel = wheel),
    ]

prebuilt_wheel = rule(
    implementation = _prebuilt_wheel_impl,
    attrs = {"wheel": attr.label(
        allow_single_file = [".whl"],
        mandatory = True,
        doc = "The file.",
    )},
    doc = "A wheel that is there as a file, for wheel_env.",
)
