// How a replacement is made in an object of CPython. No site is known here.
#include "python/csrc/intra_file/swaps.h"

#include <c10/util/Exception.h>

namespace torch_cuda::intra_file {
namespace {

// The definition that CPython reads at every call. Method descriptors of a type
// and builtin functions (of a module, or static methods) both keep a pointer to
// the one that the module's author wrote, which is writable memory.
PyMethodDef* definition(PyObject* callable) {
  if (Py_IS_TYPE(callable, &PyMethodDescr_Type)) {
    return reinterpret_cast<PyMethodDescrObject*>(callable)->d_method;
  }
  if (PyCFunction_Check(callable)) {
    return reinterpret_cast<PyCFunctionObject*>(callable)->m_ml;
  }
  return nullptr;
}

// Collects `type` and all its subclasses whose tp_new is `inherited`. A
// subclass copies the slot when it is made, so changing the base is not enough.
void collect_inheritors(
    py::handle type,
    newfunc inherited,
    std::vector<PyTypeObject*>& found) {
  auto* type_object = reinterpret_cast<PyTypeObject*>(type.ptr());
  if (type_object->tp_new == inherited) {
    found.push_back(type_object);
  }
  for (py::handle subclass : type.attr("__subclasses__")()) {
    collect_inheritors(subclass, inherited, found);
  }
}

} // namespace

PyCFunction Swaps::function(
    py::handle owner,
    const char* name,
    int flags,
    PyCFunction replacement) {
  py::object callable = owner.attr(name);
  PyMethodDef* method = definition(callable.ptr());
  // METH_CLASS and METH_STATIC say where the function is bound, not how it is
  // called.
  constexpr int kBinding = METH_CLASS | METH_STATIC;
  TORCH_CHECK(
      method != nullptr && (method->ml_flags & ~kBinding) == flags,
      "torch_cuda: torch's '",
      name,
      "' is not the C function that this build of torch_cuda replaces. "
      "Install the torch version that it was built for.");
  PyCFunction original = method->ml_meth;
  method->ml_meth = replacement;
  undo_.emplace_back(
      [callable, method, original] { method->ml_meth = original; });
  return original;
}

newfunc Swaps::constructor(py::handle type, newfunc replacement) {
  newfunc original = reinterpret_cast<PyTypeObject*>(type.ptr())->tp_new;
  TORCH_CHECK(
      PyType_Check(type.ptr()) && original != nullptr,
      "torch_cuda: torch's type ",
      std::string(py::str(type)),
      " has no constructor to replace. "
      "Install the torch version that torch_cuda was built for.");
  std::vector<PyTypeObject*> inheritors;
  collect_inheritors(type, original, inheritors);
  for (PyTypeObject* inheritor : inheritors) {
    inheritor->tp_new = replacement;
    PyType_Modified(inheritor);
  }
  // By the time of the undo there may be new subclasses.
  undo_.emplace_back([type, original, replacement] {
    std::vector<PyTypeObject*> current;
    collect_inheritors(type, replacement, current);
    for (PyTypeObject* inheritor : current) {
      inheritor->tp_new = original;
      PyType_Modified(inheritor);
    }
  });
  return original;
}

void Swaps::attribute(py::handle owner, const char* name, py::object value) {
  py::object kept = py::reinterpret_borrow<py::object>(owner);
  // From the dictionary, not by attribute access: that would give a type's
  // method without what binds it to instances.
  py::object names = owner.attr("__dict__");
  if (names.contains(name)) {
    py::object original = names[name];
    undo_.emplace_back([kept, name, original] { kept.attr(name) = original; });
  } else {
    undo_.emplace_back([kept, name] { py::delattr(kept, name); });
  }
  owner.attr(name) = std::move(value);
}

void Swaps::revert() noexcept {
  while (!undo_.empty()) {
    try {
      undo_.back()();
    } catch (const std::exception& error) {
      // Better to take the others back than to stop half way.
      TORCH_WARN("torch_cuda: could not take back a change: ", error.what());
    }
    undo_.pop_back();
  }
}

} // namespace torch_cuda::intra_file
