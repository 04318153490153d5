// parseIValuesToPyArgsKwargs: how a dispatcher call looks from Python.
//
// Upstream declares it in autograd/python_variable.h. It returns pybind11
// objects, whose visibility is hidden, so libtorch_python does not export it;
// aoti_eager.cpp needs it and finds this one.
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/jit_type.h>
#include <c10/util/Exception.h>
#include <c10/util/irange.h>
#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/jit/python/pybind_utils.h>
#include <torch/csrc/utils/pybind.h>

namespace {

// The kind of value that an argument takes, without the "optional" around it.
c10::TypeKind value_kind(const c10::Argument& argument) {
  c10::TypePtr type = argument.real_type();
  if (auto optional = type->cast<c10::OptionalType>()) {
    type = optional->getElementType();
  }
  return type->kind();
}

py::object borrow(void* torch_object) {
  return py::reinterpret_borrow<py::object>(
      static_cast<PyObject*>(torch_object));
}

// The dispatcher passes a dtype, a layout or a memory format as a number. Only
// the schema says which numbers are such.
py::object to_python(const c10::Argument& argument, const c10::IValue& value) {
  if (value.isNone()) {
    return py::none();
  }
  switch (value_kind(argument)) {
    case c10::TypeKind::ScalarTypeType:
      return borrow(
          torch::getTHPDtype(static_cast<c10::ScalarType>(value.toInt())));
    case c10::TypeKind::LayoutType:
      return borrow(
          torch::getTHPLayout(static_cast<c10::Layout>(value.toInt())));
    case c10::TypeKind::MemoryFormatType:
      return py::cast(static_cast<c10::MemoryFormat>(value.toInt()));
    default:
      return torch::jit::toPyObject(value);
  }
}

bool is_default(const c10::Argument& argument, const c10::IValue& value) {
  return argument.default_value().has_value() &&
      *argument.default_value() == value;
}

} // namespace

// Splits the arguments of a call of `op` into a tuple and a dictionary, as a
// Python caller would write them: without trailing positional arguments, and
// without keyword arguments, that have their default value.
std::pair<py::object, py::dict> parseIValuesToPyArgsKwargs(
    const c10::OperatorHandle& op,
    const std::vector<c10::IValue>& arguments) {
  TORCH_CHECK(
      PyGILState_Check(),
      "GIL must be held before you call parseIValuesToPyArgsKwargs");
  const std::vector<c10::Argument>& declared = op.schema().arguments();
  py::list positional;
  py::dict keywords;
  size_t needed = 0;
  for (const auto i : c10::irange(arguments.size())) {
    const bool defaulted = is_default(declared[i], arguments[i]);
    if (!declared[i].kwarg_only()) {
      positional.append(to_python(declared[i], arguments[i]));
      if (!defaulted) {
        needed = i + 1;
      }
    } else if (!defaulted) {
      keywords[py::str(declared[i].name())] =
          to_python(declared[i], arguments[i]);
    }
  }
  return {
      py::tuple(positional[py::slice(0, static_cast<ssize_t>(needed), 1)]),
      std::move(keywords)};
}
