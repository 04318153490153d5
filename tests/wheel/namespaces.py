"""What every name of every module of torch is, to compare two ways of coming to a torch with CUDA."""

from __future__ import annotations

DESCRIBE = """
import json, sys, types
def describe(value):
    if isinstance(value, type):
        bases = [f"{base.__module__}.{base.__qualname__}" for base in value.__mro__]
        return ["class", bases, sorted(vars(value))]
    if isinstance(value, types.FunctionType):
        return ["function", value.__module__, value.__qualname__, value.__code__.co_firstlineno]
    if isinstance(value, types.BuiltinFunctionType):
        return ["builtin", str(value.__module__), value.__name__]
    if isinstance(value, types.ModuleType):
        return ["module", value.__name__]
    if isinstance(value, (bool, int, float, type(None))):
        return repr(value) if not value or value < 2**32 else "address"
    return ["instance", type(value).__module__, type(value).__qualname__]
seen = {}
for name, module in list(sys.modules.items()):
    if name.split(".")[0] == "torch" and "_CUDAC" not in name:
        inner = getattr(module, "m", module)
        for where in {id(module): module, id(inner): inner}.values():
            for key, value in list(vars(where).items()) if hasattr(where, "__dict__") else ():
                if not key.startswith("__"):
                    seen[f"{name}.{key}"] = describe(value)
print(json.dumps(seen))
"""
"""Python code that prints it as JSON: name to description, without addresses and without the modules
that hold the bindings themselves."""
