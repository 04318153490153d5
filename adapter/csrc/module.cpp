// _native: the part of the adapter that Python cannot do. For any Python from
// 3.11 on, and any torch.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "naming.h"
#include "tensors.h"

// Exported by every CPython, though no part of the limited API.
extern "C" int PyGILState_Check(void);

namespace torch_cuda_adapter {

Naming& naming() {
  static Naming current;
  return current;
}

namespace {

// What begin() was given; `naming()` points into it.
struct Given {
  std::string name;
  std::string dispatch_key;
  // "torch_musa": the package, and all that is in it.
  std::vector<std::string> packages;
  std::vector<std::string> folders;
};

Given& given() {
  static Given current;
  return current;
}

PyObject* name_key() {
  static PyObject* key = PyUnicode_InternFromString("__name__");
  return key;
}

const std::vector<Redirection>& all_redirections() {
  static const std::vector<Redirection> all = [] {
    std::vector<Redirection> joined;
    for (const Redirections& list :
         {cxx11_redirections(),
          pre_cxx11_redirections(),
          autocast_redirections()}) {
      joined.insert(joined.end(), list.begin, list.begin + list.count);
    }
    return joined;
  }();
  return all;
}

std::size_t redirect_all() {
  std::vector<const char*> skipped;
  for (const std::string& folder : given().folders) {
    skipped.push_back(folder.c_str());
  }
  skipped.push_back(nullptr);
  const auto& all = all_redirections();
  return redirect(all.data(), all.size(), skipped.data());
}

bool read_texts(PyObject* tuple, std::vector<std::string>& texts) {
  texts.clear();
  for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i) {
    const char* text =
        PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), nullptr);
    if (text == nullptr) {
      return false;
    }
    texts.emplace_back(text);
  }
  return true;
}

PyObject* begin(PyObject* /*module*/, PyObject* arguments) {
  int type = 0;
  const char* name = nullptr;
  const char* dispatch_key = nullptr;
  PyObject* packages = nullptr;
  PyObject* folders = nullptr;
  if (!PyArg_ParseTuple(
          arguments,
          "issO!O!",
          &type,
          &name,
          &dispatch_key,
          &PyTuple_Type,
          &packages,
          &PyTuple_Type,
          &folders)) {
    return nullptr;
  }
  if (naming().type >= 0) {
    PyErr_SetString(PyExc_RuntimeError, "naming has begun already");
    return nullptr;
  }
  Given& kept = given();
  if (!read_texts(packages, kept.packages) ||
      !read_texts(folders, kept.folders)) {
    return nullptr;
  }
  kept.name = name;
  kept.dispatch_key = dispatch_key;
  const auto& all = all_redirections();
  for (const char* library : {"libc10.so", "libtorch_cpu.so"}) {
    find_originals(library, all.data(), all.size());
  }
  naming() = {
      static_cast<std::int8_t>(type),
      kept.name.c_str(),
      kept.dispatch_key.c_str()};
  return PyLong_FromSize_t(redirect_all());
}

PyObject* refresh(PyObject* /*module*/, PyObject* /*arguments*/) {
  return PyLong_FromSize_t(naming().type >= 0 ? redirect_all() : 0);
}

PyObject* end(PyObject* /*module*/, PyObject* /*arguments*/) {
  const auto& all = all_redirections();
  const std::size_t written = restore(all.data(), all.size());
  naming() = Naming{};
  return PyLong_FromSize_t(written);
}

// (type, index) as the object holds them, for a check of its layout.
PyObject* device_bytes(PyObject* /*module*/, PyObject* device) {
  const auto* bytes = reinterpret_cast<const std::int8_t*>(device);
  return Py_BuildValue(
      "ii", bytes[sizeof(PyObject)], bytes[sizeof(PyObject) + 1]);
}

PyObject* descriptors(PyObject* /*module*/, PyObject* torch) {
  return tensor_descriptors(torch);
}

PyObject* set_metaclass(PyObject* /*module*/, PyObject* arguments) {
  PyObject* type = nullptr;
  PyObject* metaclass = nullptr;
  if (!PyArg_ParseTuple(
          arguments, "O!O!", &PyType_Type, &type, &PyType_Type, &metaclass)) {
    return nullptr;
  }
  PyTypeObject* old = Py_TYPE(type);
  Py_INCREF(metaclass);
  Py_SET_TYPE(type, reinterpret_cast<PyTypeObject*>(metaclass));
  PyType_Modified(reinterpret_cast<PyTypeObject*>(type));
  Py_DECREF(old);
  Py_RETURN_NONE;
}

PyMethodDef kMethods[] = {
    {"begin",
     begin,
     METH_VARARGS,
     "begin(type, name, dispatch_key, packages, folders) -> int\n\n"
     "Lets loaded libraries call the device `name`, whose c10::DeviceType is "
     "`type`, cuda, but for Python code of `packages` and libraries below "
     "`folders`. Returns how many slots were rewritten."},
    {"refresh",
     refresh,
     METH_NOARGS,
     "refresh() -> int\n\nThe same for libraries loaded since."},
    {"end", end, METH_NOARGS, "end() -> int\n\nPuts every slot back."},
    {"device_bytes",
     device_bytes,
     METH_O,
     "device_bytes(device) -> (type, index)\n\nAs the object holds them."},
    {"tensor_descriptors",
     descriptors,
     METH_O,
     "tensor_descriptors(torch) -> (is_cuda, cuda)\n\nFor torch.Tensor."},
    {"set_metaclass",
     set_metaclass,
     METH_VARARGS,
     "set_metaclass(type, metaclass)\n\nThe metaclass has to have the layout "
     "of the old one."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef kModule = {
    PyModuleDef_HEAD_INIT,
    "_native",
    "What the adapter does in libraries and types that Python cannot change.",
    -1,
    kMethods,
    nullptr,
    nullptr,
    nullptr,
    nullptr};

} // namespace

bool own_code_runs() {
  if (!Py_IsInitialized() || !PyGILState_Check()) {
    return false;
  }
  PyObject* globals = PyEval_GetGlobals();
  PyObject* name =
      globals != nullptr ? PyDict_GetItem(globals, name_key()) : nullptr;
  Py_ssize_t size = 0;
  const char* text = name != nullptr && PyUnicode_Check(name)
      ? PyUnicode_AsUTF8AndSize(name, &size)
      : nullptr;
  if (text == nullptr) {
    return false;
  }
  for (const std::string& package : given().packages) {
    const auto length = static_cast<Py_ssize_t>(package.size());
    if (size >= length &&
        std::memcmp(text, package.data(), package.size()) == 0 &&
        (size == length || text[length] == '.')) {
      return true;
    }
  }
  return false;
}

} // namespace torch_cuda_adapter

extern "C" __attribute__((visibility("default"))) PyObject* PyInit__native() {
  return PyModule_Create(&torch_cuda_adapter::kModule);
}
