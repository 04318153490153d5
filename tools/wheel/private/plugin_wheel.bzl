"""The rule that turns Python packages and shared libraries into a wheel.

Private: `//tools/wheel:defs.bzl` has the public macro, which fills in the tags of the torch that
the wheel is built for.
"""

load("@rules_python//python:defs.bzl", "PyInfo")

WheelInfo = provider(
    doc = "A wheel that pip can install.",
    fields = {
        "distribution": "string: name of the distribution, for example torch_cuda.",
        "version": "string: its version, for example 2.6.0+cu124.",
        "wheel": "File: the .whl file.",
    },
)

def _single_file(target, path):
    files = target[DefaultInfo].files.to_list()
    if len(files) != 1:
        fail("{} is to become {} in the wheel and has {} files; name the one file to take.".format(
            target.label,
            path,
            len(files),
        ))
    return files[0]

def _stripped(file, prefix, label):
    path = file.short_path

    # Where the rule's module is another's dependency, its files are "../MODULE/PATH".
    module = "../{}/".format(label.workspace_name)
    if label.workspace_name and path.startswith(module):
        path = path[len(module):]
    if not prefix:
        return path
    if not path.startswith(prefix + "/"):
        fail(("{} would carry {}, which is not under {}/. Leave it out of py_deps and data, or give " +
              "its place in the wheel with files.").format(label, path, prefix))
    return path[len(prefix) + 1:]

def _payload(ctx):
    """Lists what the wheel carries as (File, path in the wheel)."""
    files = []
    python = depset(transitive = [dep[PyInfo].transitive_sources for dep in ctx.attr.py_deps])
    for file in python.to_list() + ctx.files.data:
        files.append((file, _stripped(file, ctx.attr.strip_prefix, ctx.label)))
    for target, path in ctx.attr.native.items() + ctx.attr.files.items():
        files.append((_single_file(target, path), path))
    return files

def _build_info(ctx):
    """Declares the module of constants, or returns None if there is nothing to put into it."""
    values = list(ctx.files.build_info_files)
    if ctx.attr.build_info:
        inline = ctx.actions.declare_file(ctx.label.name + ".build_info.json")
        ctx.actions.write(inline, json.encode_indent({
            name: json.decode(value)
            for name, value in ctx.attr.build_info.items()
        }) + "\n")
        values.append(inline)
    if not values:
        return None
    if not ctx.attr.build_info_path:
        fail("{}: build_info needs build_info_path, for example torch_cuda/_build_info.py.".format(ctx.label))
    module = ctx.actions.declare_file(ctx.label.name + ".build_info.py")
    ctx.actions.run(
        outputs = [module],
        inputs = values,
        executable = ctx.executable._build_info,
        arguments = [ctx.actions.args().add_all("--values", values).add("--output", module)],
        mnemonic = "WheelBuildInfo",
        progress_message = "Writing %{output}",
    )
    return module

def _plugin_wheel_impl(ctx):
    payload = _payload(ctx)
    module = _build_info(ctx)
    if module:
        payload.append((module, ctx.attr.build_info_path))
    licenses = [(_single_file(target, path), path) for target, path in ctx.attr.license_files.items()]

    manifest = ctx.actions.declare_file(ctx.label.name + ".manifest.json")
    ctx.actions.write(manifest, json.encode_indent({
        "abi_tag": ctx.attr.abi_tag,
        "compression_level": ctx.attr.compression_level,
        "description": ctx.file.description.path if ctx.file.description else None,
        "distribution": ctx.attr.distribution,
        "entry_points": ctx.attr.entry_points,
        "extras": ctx.attr.extras,
        "files": [[file.path, path] for file, path in payload],
        "license_expression": ctx.attr.license_expression,
        "license_files": [[file.path, path] for file, path in licenses],
        "platform_tag": ctx.attr.platform_tag,
        "python_tag": ctx.attr.python_tag,
        "requires": ctx.attr.requires,
        "requires_python": ctx.attr.requires_python,
        "summary": ctx.attr.summary,
        "version": ctx.attr.version,
    }) + "\n")

    # pip reads the tags from the file name; build_wheel.py checks it against the metadata.
    wheel = ctx.actions.declare_file("{}{}-{}-{}-{}-{}.whl".format(
        ctx.attr.folder + "/" if ctx.attr.folder else "",
        ctx.attr.distribution.replace("-", "_").replace(".", "_").lower(),
        ctx.attr.version,
        ctx.attr.python_tag,
        ctx.attr.abi_tag,
        ctx.attr.platform_tag,
    ))
    description = [ctx.file.description] if ctx.file.description else []
    ctx.actions.run(
        outputs = [wheel],
        inputs = [manifest] + description + [file for file, _ in payload + licenses],
        executable = ctx.executable._builder,
        arguments = [ctx.actions.args().add("--manifest", manifest).add("--output", wheel)],
        mnemonic = "Wheel",
        progress_message = "Building wheel %{output}",
    )
    return [
        DefaultInfo(files = depset([wheel]), runfiles = ctx.runfiles([wheel])),
        OutputGroupInfo(manifest = depset([manifest])),
        WheelInfo(
            distribution = ctx.attr.distribution,
            version = ctx.attr.version,
            wheel = wheel,
        ),
    ]

plugin_wheel = rule(
    implementation = _plugin_wheel_impl,
    doc = "Builds a wheel (PEP 427) whose bytes depend on its inputs alone.",
    attrs = {
        "abi_tag": attr.string(mandatory = True, doc = "ABI tag, for example cp313."),
        "build_info": attr.string_dict(
            doc = "Constants of the generated module: upper case name to JSON value.",
        ),
        "build_info_files": attr.label_list(
            allow_files = [".json"],
            doc = "JSON objects with more constants for the generated module.",
        ),
        "build_info_path": attr.string(doc = "Where the generated module goes in the wheel."),
        "compression_level": attr.int(
            default = 1,
            doc = "0 stores the files, 1 to 9 deflates them. At 1, 100 MB of shared library take a " +
                  "second and shrink to a third; at 6, four seconds and 10 % less.",
        ),
        "data": attr.label_list(
            allow_files = True,
            doc = "Files placed like the Python sources: py.typed, stubs.",
        ),
        "description": attr.label(
            allow_single_file = [".md"],
            doc = "Markdown file for the long description.",
        ),
        "distribution": attr.string(mandatory = True, doc = "Name of the distribution."),
        "entry_points": attr.string_list_dict(
            doc = "Entry point group to lines such as \"torch_cuda = torch_cuda:_autoload\".",
        ),
        "extras": attr.string_list_dict(doc = "Extra to its PEP 508 requirements."),
        "files": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "Single files to their paths in the wheel.",
        ),
        "folder": attr.string(
            doc = "Folder of the package's outputs that the .whl file lies in, where another target of the " +
                  "package has a file of the same name.",
        ),
        "license_expression": attr.string(
            default = "BSD-3-Clause",
            doc = "SPDX expression of the whole wheel (PEP 639).",
        ),
        "license_files": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "License texts to their names in the licenses folder of the dist-info.",
        ),
        "native": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "Shared libraries and extension modules to their paths in the wheel.",
        ),
        "platform_tag": attr.string(mandatory = True, doc = "Platform tag, for example linux_x86_64."),
        "py_deps": attr.label_list(
            providers = [PyInfo],
            doc = "Python libraries; they and what they depend on is placed by strip_prefix.",
        ),
        "python_tag": attr.string(mandatory = True, doc = "Python tag, for example cp313."),
        "requires": attr.string_list(doc = "PEP 508 requirements."),
        "requires_python": attr.string(mandatory = True, doc = "PEP 440 specifier for Python."),
        "strip_prefix": attr.string(
            default = "python",
            doc = "Folder of this repository that stands for site-packages.",
        ),
        "summary": attr.string(mandatory = True, doc = "One line for `pip show`."),
        "version": attr.string(mandatory = True, doc = "PEP 440 version."),
        "_build_info": attr.label(
            cfg = "exec",
            default = "//tools/wheel:build_info",
            executable = True,
        ),
        "_builder": attr.label(
            cfg = "exec",
            default = "//tools/wheel:build_wheel",
            executable = True,
        ),
    },
    provides = [WheelInfo],
)
