// CUDA half of torch/csrc/Storage.cpp (construction) and
// torch/csrc/StorageMethods.cpp (resize_).
#include "python/csrc/intra_file/silent_warnings.h"
#include "python/csrc/intra_file/sites.h"

#include <ATen/native/cuda/Resize.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/overflows.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Storage.h>
#include <torch/csrc/utils/device_lazy_init.h>
#include <torch/csrc/utils/python_arg_parser.h>
#include <torch/csrc/utils/python_numbers.h>

namespace torch_cuda::intra_file {
namespace {

newfunc original_new = nullptr;
PyCFunction original_resize = nullptr;
// torch._C.StorageBase, which is abstract.
PyObject* storage_base = nullptr;

// `kwargs[name]`, or nullptr when it is absent or None (borrowed).
PyObject* given(PyObject* kwargs, const char* name) {
  PyObject* value = kwargs ? PyDict_GetItemString(kwargs, name) : nullptr;
  return value == Py_None ? nullptr : value;
}

// The device that the arguments ask for, read by the constructor's own
// signatures, so that a wrong call is refused in the same words.
at::Device requested_device(PyObject* args, PyObject* kwargs) {
  SilentWarnings silent;
  static torch::PythonArgParser parser({
      THPStorageStr "(*, int64_t allocator=None, Device device=None)",
      THPStorageStr
      "(int64_t size, *, int64_t allocator=None, Device device=None)",
      THPStorageStr
      "(PyObject* sequence, *, int64_t allocator=None, Device device=None)",
  });
  torch::ParsedArgs<3> parsed_args;
  auto parsed = parser.parse(args, kwargs, parsed_args);
  return parsed.device(parsed.idx == 0 ? 1 : 2);
}

// The original constructor takes an allocator's address in place of a device.
// With the caching allocator's, and its device current, it makes just the
// storage that a CUDA build makes.
PyObject* storage_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  // A device together with an allocator is an error that the original reports,
  // and so is the abstract base class.
  if (!given(kwargs, "device") || given(kwargs, "allocator") ||
      reinterpret_cast<PyObject*>(type) == storage_base) {
    return original_new(type, args, kwargs);
  }
  at::Device device = requested_device(args, kwargs);
  if (!device.is_cuda()) {
    return original_new(type, args, kwargs);
  }
  torch::utils::maybe_initialize_device(device);
  c10::Allocator* allocator = c10::cuda::CUDACachingAllocator::get();
  at::DeviceGuard device_guard(device);

  THPObjectPtr with_allocator(PyDict_Copy(kwargs));
  THPObjectPtr address(PyLong_FromVoidPtr(allocator));
  if (!with_allocator || !address ||
      PyDict_DelItemString(with_allocator, "device") != 0 ||
      PyDict_SetItemString(with_allocator, "allocator", address) != 0) {
    throw python_error();
  }
  return original_new(type, args, with_allocator);
  END_HANDLE_TH_ERRORS
}

// A storage that says it has bytes but has no memory (see upstream's Note
// [Invalid Python Storages]).
bool is_invalid(const c10::Storage& storage) {
  return storage.data() == nullptr && storage.sym_nbytes() != 0;
}

PyObject* storage_resize_(PyObject* self, PyObject* size) {
  HANDLE_TH_ERRORS
  THPStorage_assertNotNull(self);
  const auto& storage = THPStorage_Unpack(self);
  if (storage.device_type() != at::kCUDA || is_invalid(storage) ||
      !THPUtils_checkLong(size)) {
    // Another device, or an error that the original reports.
    return original_resize(self, size);
  }
  const int64_t size_bytes = THPUtils_unpackLong(size);
  TORCH_CHECK(
      !c10::overflows<size_t>(size_bytes),
      "Requested storage size (",
      size_bytes,
      ") cannot be represented as a size_t");
  at::native::resize_bytes_cuda(
      storage.unsafeGetStorageImpl(), static_cast<size_t>(size_bytes));
  return Py_NewRef(self);
  END_HANDLE_TH_ERRORS
}

} // namespace

void init_storage(py::module_& torch_c, Swaps& swaps) {
  // A static type: it lives as long as the interpreter.
  storage_base = torch_c.attr("StorageBase").ptr();
  original_new = swaps.constructor(storage_base, storage_new);
  original_resize =
      swaps.function(storage_base, "resize_", METH_O, storage_resize_);
}

} // namespace torch_cuda::intra_file
