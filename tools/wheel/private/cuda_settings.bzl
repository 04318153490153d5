"""The rule that writes down which build settings a wheel was built with.

Private: load `//tools/wheel:defs.bzl`.
"""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//config:cuda_archs.bzl", "CudaArchsInfo")

def _cuda_settings_impl(ctx):
    settings = {
        "ATTENTION": ctx.attr._attention[BuildSettingInfo].value,
        "CUDA_ARCHS": ctx.attr._cuda_archs[CudaArchsInfo].names,
        "CUDNN": ctx.attr._cudnn[BuildSettingInfo].value,
        "OPS": ctx.attr._ops[BuildSettingInfo].value,
    }
    settings.update(json.decode(ctx.attr.constants))
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(output, json.encode_indent(settings) + "\n")
    return [DefaultInfo(files = depset([output]))]

cuda_settings = rule(
    implementation = _cuda_settings_impl,
    doc = "Writes a JSON object: the build settings of //config, and constants of the caller.",
    attrs = {
        "constants": attr.string(default = "{}", doc = "JSON object with more constants."),
        "_attention": attr.label(default = "//config:attention"),
        "_cuda_archs": attr.label(default = "//config:cuda_archs"),
        "_cudnn": attr.label(default = "//config:cudnn"),
        "_ops": attr.label(default = "//config:ops"),
    },
)
