// Two descriptors in C, as their originals are: a call costs what theirs costs.

#include "tensors.h"

#include <cstdint>

#include "naming.h"

namespace torch_cuda_adapter {
namespace {

// Part of torch's stable C interface (torch/csrc/inductor/aoti_torch/c): the
// type of the device of a tensor, of which it takes the address.
using GetDeviceType = std::int32_t (*)(void*, std::int32_t*);
void* get_device_type = nullptr;
constexpr Redirection kGetDeviceType = {
    "aoti_torch_get_device_type",
    nullptr,
    &get_device_type};

// Where THPVariable holds its c10::MaybeOwned<at::Tensor>: whether it is
// borrowed, then the tensor. look_up checks it.
constexpr std::size_t kBorrowed = sizeof(PyObject);
constexpr std::size_t kTensor = kBorrowed + sizeof(void*);

// Looked up once; PyTorch's objects live as long as the process.
struct Torch {
  PyObject* is_cuda = nullptr;
  descrgetfunc get_is_cuda = nullptr;
  PyObject* device = nullptr;
  descrgetfunc get_device = nullptr;
  PyObject* device_type = nullptr;
  PyObject* to = nullptr;
  PyObject* has_torch_function = nullptr;
  PyObject* handle_torch_function = nullptr;
  PyObject* tensor = nullptr;
  PyObject* cuda_device = nullptr;
  PyObject* cuda_text = nullptr;
};

Torch& torch_objects() {
  static Torch objects;
  return objects;
}

// THPDevice holds a c10::Device behind its head: type and index, a byte each.
// module.cpp checks that when naming begins.
std::int8_t type_of(PyObject* device) {
  return reinterpret_cast<const std::int8_t*>(device)[sizeof(PyObject)];
}

PyObject* get_is_cuda(PyObject* self, void* /*closure*/) {
  const Torch& torch = torch_objects();
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(self));
  // With a mode or a subclass this comes back here, below the mode.
  PyObject* is_cuda = torch.get_is_cuda(torch.is_cuda, self, type);
  if (is_cuda != Py_False || naming().type < 0) {
    return is_cuda;
  }
  std::int32_t device_type = -1;
  auto* bytes = reinterpret_cast<char*>(self);
  if (get_device_type == nullptr || bytes[kBorrowed] != 0 ||
      reinterpret_cast<GetDeviceType>(get_device_type)(
          bytes + kTensor, &device_type) != 0) {
    PyObject* device = torch.get_device(torch.device, self, type);
    if (device == nullptr) {
      Py_DECREF(is_cuda);
      return nullptr;
    }
    if (reinterpret_cast<PyObject*>(Py_TYPE(device)) == torch.device_type) {
      device_type = type_of(device);
    }
    Py_DECREF(device);
  }
  if (device_type != naming().type) {
    return is_cuda;
  }
  Py_DECREF(is_cuda);
  return Py_NewRef(Py_True);
}

// The device of the call, as a new reference; null with an exception.
PyObject* checked_device(PyObject* given) {
  const Torch& torch = torch_objects();
  if (given == nullptr || given == Py_None) {
    return Py_NewRef(torch.cuda_device);
  }
  PyObject* device = nullptr;
  if (reinterpret_cast<PyObject*>(Py_TYPE(given)) == torch.device_type) {
    device = Py_NewRef(given);
  } else if (PyLong_Check(given) && !PyBool_Check(given)) {
    device = PyObject_CallFunctionObjArgs(
        torch.device_type, torch.cuda_text, given, nullptr);
  } else {
    device = PyObject_CallFunctionObjArgs(torch.device_type, given, nullptr);
  }
  if (device != nullptr && type_of(device) != naming().type) {
    PyErr_Format(
        PyExc_RuntimeError,
        "Tensor.cuda: found %S; needed a device such as cuda:0",
        device);
    Py_DECREF(device);
    return nullptr;
  }
  return device;
}

// As a mode or a subclass sees the call: Tensor.cuda with its arguments.
PyObject* through_torch_function(
    PyObject* self,
    PyObject* const* arguments,
    Py_ssize_t count,
    PyObject* names) {
  const Torch& torch = torch_objects();
  const Py_ssize_t named = names != nullptr ? PyTuple_Size(names) : 0;
  PyObject* function = PyObject_GetAttrString(torch.tensor, "cuda");
  PyObject* relevant = PyTuple_Pack(1, self);
  PyObject* all = PyTuple_New(3 + count);
  PyObject* options = PyDict_New();
  PyObject* result = nullptr;
  if (function != nullptr && relevant != nullptr && all != nullptr &&
      options != nullptr) {
    PyTuple_SetItem(all, 0, Py_NewRef(function));
    PyTuple_SetItem(all, 1, Py_NewRef(relevant));
    PyTuple_SetItem(all, 2, Py_NewRef(self));
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyTuple_SetItem(all, 3 + i, Py_NewRef(arguments[i]));
    }
    bool good = true;
    for (Py_ssize_t i = 0; i < named && good; ++i) {
      PyObject* name = PyTuple_GetItem(names, i);
      good = PyDict_SetItem(options, name, arguments[count + i]) == 0;
    }
    if (good) {
      result = PyObject_Call(torch.handle_torch_function, all, options);
    }
  }
  Py_XDECREF(function);
  Py_XDECREF(relevant);
  Py_XDECREF(all);
  Py_XDECREF(options);
  return result;
}

constexpr const char* kParameters[] = {
    "device",
    "non_blocking",
    "memory_format"};
constexpr Py_ssize_t kParameterCount = 3;

// Sorts the arguments of the call into kParameters' order; borrowed.
bool sort_arguments(
    PyObject* const* arguments,
    Py_ssize_t count,
    PyObject* names,
    PyObject** sorted) {
  if (count > kParameterCount) {
    PyErr_Format(
        PyExc_TypeError,
        "Tensor.cuda: found %zd arguments; needed at most %zd",
        count,
        kParameterCount);
    return false;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    sorted[i] = arguments[i];
  }
  const Py_ssize_t named = names != nullptr ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* name = PyTuple_GetItem(names, i);
    Py_ssize_t place = 0;
    while (place < kParameterCount &&
           PyUnicode_CompareWithASCIIString(name, kParameters[place]) != 0) {
      ++place;
    }
    if (place == kParameterCount || sorted[place] != nullptr) {
      PyErr_Format(
          PyExc_TypeError,
          "Tensor.cuda: found an argument %R %s; needed device, "
          "non_blocking or memory_format, each once",
          name,
          place == kParameterCount ? "that it has not" : "twice");
      return false;
    }
    sorted[place] = arguments[count + i];
  }
  return true;
}

PyObject* cuda(
    PyObject* self,
    PyObject* const* arguments,
    Py_ssize_t count,
    PyObject* names) {
  const Torch& torch = torch_objects();
  PyObject* has =
      PyObject_CallFunctionObjArgs(torch.has_torch_function, self, nullptr);
  if (has == nullptr) {
    return nullptr;
  }
  const bool overridden = has == Py_True;
  Py_DECREF(has);
  if (overridden) {
    return through_torch_function(self, arguments, count, names);
  }
  PyObject* sorted[kParameterCount] = {};
  if (!sort_arguments(arguments, count, names, sorted)) {
    return nullptr;
  }
  PyObject* device = checked_device(sorted[0]);
  if (device == nullptr) {
    return nullptr;
  }
  PyObject* result = nullptr;
  if (sorted[1] == nullptr && sorted[2] == nullptr) {
    result = PyObject_CallFunctionObjArgs(torch.to, self, device, nullptr);
  } else {
    PyObject* positional = PyTuple_Pack(2, self, device);
    PyObject* options = PyDict_New();
    bool good = positional != nullptr && options != nullptr;
    for (Py_ssize_t i = 1; i < kParameterCount && good; ++i) {
      good = sorted[i] == nullptr ||
          PyDict_SetItemString(options, kParameters[i], sorted[i]) == 0;
    }
    if (good) {
      result = PyObject_Call(torch.to, positional, options);
    }
    Py_XDECREF(positional);
    Py_XDECREF(options);
  }
  Py_DECREF(device);
  return result;
}

PyGetSetDef kIsCuda = {
    "is_cuda",
    get_is_cuda,
    nullptr,
    "Whether the tensor is on a device that programs call cuda.",
    nullptr};

PyMethodDef kCuda = {
    "cuda",
    reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(cuda)),
    METH_FASTCALL | METH_KEYWORDS,
    "cuda(device=None, non_blocking=False, memory_format=None) -> Tensor"};

// An attribute as it stands in the type's dict, and how it is read.
PyObject* descriptor(PyObject* type, const char* name, descrgetfunc* get) {
  PyObject* found = PyObject_GetAttrString(type, name);
  if (found == nullptr) {
    return nullptr;
  }
  *get = reinterpret_cast<descrgetfunc>(
      PyType_GetSlot(Py_TYPE(found), Py_tp_descr_get));
  if (*get == nullptr) {
    PyErr_Format(PyExc_TypeError, "found no descriptor Tensor.%s", name);
    Py_DECREF(found);
    return nullptr;
  }
  return found;
}

// Finds the quick way to a tensor's device, if this torch has it.
bool find_device_type(PyObject* tensor) {
  PyObject* address = PyObject_GetAttrString(tensor, "_cdata");
  if (address == nullptr) {
    return false;
  }
  const void* expected = PyLong_AsVoidPtr(address);
  Py_DECREF(address);
  const auto* bytes = reinterpret_cast<const char*>(tensor);
  if (bytes[kBorrowed] == 0 &&
      *reinterpret_cast<void* const*>(bytes + kTensor) == expected) {
    find_originals("libtorch_cpu.so", &kGetDeviceType, 1);
  }
  return true;
}

bool look_up(PyObject* module) {
  Torch& torch = torch_objects();
  if (torch.cuda_device != nullptr) {
    return true;
  }
  PyObject* bindings = PyObject_GetAttrString(module, "_C");
  PyObject* base = bindings != nullptr
      ? PyObject_GetAttrString(bindings, "TensorBase")
      : nullptr;
  PyObject* overrides = PyImport_ImportModule("torch.overrides");
  bool good = base != nullptr && overrides != nullptr;
  if (good) {
    torch.is_cuda = descriptor(base, "is_cuda", &torch.get_is_cuda);
    torch.device = descriptor(base, "device", &torch.get_device);
    torch.to = PyObject_GetAttrString(base, "to");
    torch.tensor = PyObject_GetAttrString(module, "Tensor");
    torch.device_type = PyObject_GetAttrString(module, "device");
    torch.has_torch_function =
        PyObject_GetAttrString(bindings, "_has_torch_function_unary");
    torch.handle_torch_function =
        PyObject_GetAttrString(overrides, "handle_torch_function");
    torch.cuda_text = PyUnicode_InternFromString("cuda");
    good = torch.is_cuda != nullptr && torch.device != nullptr &&
        torch.to != nullptr && torch.tensor != nullptr &&
        torch.device_type != nullptr && torch.has_torch_function != nullptr &&
        torch.handle_torch_function != nullptr && torch.cuda_text != nullptr;
  }
  Py_XDECREF(bindings);
  Py_XDECREF(base);
  Py_XDECREF(overrides);
  if (good) {
    PyObject* tensor = PyObject_CallFunctionObjArgs(torch.tensor, nullptr);
    good = tensor != nullptr && find_device_type(tensor);
    Py_XDECREF(tensor);
  }
  if (good) {
    torch.cuda_device = PyObject_CallFunctionObjArgs(
        torch.device_type, torch.cuda_text, nullptr);
  }
  return good && torch.cuda_device != nullptr;
}

} // namespace

PyObject* tensor_descriptors(PyObject* torch) {
  if (!look_up(torch)) {
    return nullptr;
  }
  auto* type = reinterpret_cast<PyTypeObject*>(torch_objects().tensor);
  PyObject* is_cuda = PyDescr_NewGetSet(type, &kIsCuda);
  PyObject* method = PyDescr_NewMethod(type, &kCuda);
  PyObject* both = is_cuda != nullptr && method != nullptr
      ? PyTuple_Pack(2, is_cuda, method)
      : nullptr;
  Py_XDECREF(is_cuda);
  Py_XDECREF(method);
  return both;
}

} // namespace torch_cuda_adapter
