"""The macro that runs a Python test in a virtual environment that has wheels installed.

Private: load `//tools/wheel:defs.bzl`.
"""

load("@rules_python//python:defs.bzl", "py_test")
load("@torch//:torch.bzl", "TORCH")

def wheel_test(name, env_target, srcs, main = None, args = [], data = [], deps = [], **kwargs):
    """A py_test that runs inside a fresh virtual environment over the stock torch.

    The environment is made for each test invocation, so a test may damage what is installed in it.
    In the test, `sys.executable` and the environment variable `TORCH_CUDA_TEST_PYTHON` are its
    interpreter, and `TORCH_CUDA_TEST_SITE` is its site-packages folder.

    Args:
        name: string, name of the test.
        env_target: label of a wheel_env whose files are copied into the environment.
        srcs: list of labels, the test's sources.
        main: label of the source to run; may be left out if there is one source.
        args: list of strings for the test.
        data: list of labels, as for py_test.
        deps: list of labels, as for py_test.
        **kwargs: more attributes of py_test.
    """
    if not main:
        if len(srcs) != 1:
            fail("wheel_test {}: give main, as there are {} sources.".format(name, len(srcs)))
        main = srcs[0]
    py_test(
        name = name,
        # Labels of this repository, whoever calls.
        srcs = srcs + [Label("//tools/wheel:run_in_venv.py")],
        main = Label("//tools/wheel:run_in_venv.py"),
        args = [
            "--python=" + TORCH["python"],
            "--wheel_env=$(rootpath {})".format(env_target),
            "--main=$(rootpath {})".format(main),
            "--",
        ] + args,
        data = data + [env_target, main],
        deps = deps,
        **kwargs
    )
