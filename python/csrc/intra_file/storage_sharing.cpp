// CUDA half of torch/csrc/StorageSharing.cpp: CUDA storages shared between
// processes.
//
// The sender keeps the memory alive until a counter in shared memory says that
// every receiver let go of it (upstream's CudaIPCTypes.cpp, which is part of
// libtorch_cuda). What travels is a tuple of eight, made by _share_cuda_ and
// taken by _new_shared_cuda:
//
//   0  int     device index
//   1  bytes   handle of the memory block that the storage lies in
//   2  int     size of the storage in bytes
//   3  int     offset of the storage in the block, in bytes
//   4  bytes   name of the shared memory file that holds the counter
//   5  int     index of the counter in that file
//   6  bytes   handle of the event that says when the data is ready
//   7  bool    whether there is an event to wait for
//
// An empty storage has None in places 1, 4, 6 and 7.
#include "python/csrc/intra_file/sites.h"

#include <cstring>
#include <memory>
#include <string>

#include <ATen/MapAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/safe_numerics.h>
#include <cuda_runtime_api.h>
#include <torch/csrc/CudaIPCTypes.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Storage.h>
#include <torch/csrc/utils.h>
#include <torch/csrc/utils/python_numbers.h>

namespace torch_cuda::intra_file {
namespace {

// Says to the sender that one receiver is done. Does nothing when the sender
// has ended and taken the counter file with it.
void count_down(const std::string& counter_file, ptrdiff_t index) {
  try {
    auto counters = at::RefcountedMapAllocator::makeDataPtr(
        counter_file.c_str(),
        at::ALLOCATOR_MAPPED_SHAREDMEM | at::ALLOCATOR_MAPPED_NOCREATE,
        sizeof(int64_t) * torch::CUDA_IPC_REF_COUNTER_FILE_SIZE,
        nullptr);
    static_cast<int64_t*>(counters.get())[index] -= 1;
  } catch (const c10::Error&) {
    // Nobody is left who could reuse the memory.
  }
}

// Memory of another process, for as long as a storage here uses it.
struct Received {
  std::shared_ptr<void> block;
  std::string counter_file;
  ptrdiff_t counter_index;
  c10::DeviceIndex device;
};

void release_received(void* context) {
  std::unique_ptr<Received> received(static_cast<Received*>(context));
  received->block.reset();
  // The sender may reuse the memory as soon as it is told, so the kernels that
  // read it must have ended.
  c10::cuda::stream_synchronize(
      c10::cuda::getCurrentCUDAStream(received->device));
  count_down(received->counter_file, received->counter_index);
}

std::string as_string(PyObject* bytes) {
  return std::string(
      PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes)));
}

py::bytes event_handle(const torch::CudaIPCSentData& sent) {
  cudaIpcEventHandle_t handle{};
  if (sent.event_sync_required_) {
    C10_CUDA_CHECK(cudaIpcGetEventHandle(&handle, sent.event_));
  }
  return py::bytes(reinterpret_cast<const char*>(&handle), sizeof(handle));
}

// Makes the current stream wait until the sender's data is ready.
void wait_for_event(PyObject* handle_bytes, c10::DeviceIndex device) {
  cudaIpcEventHandle_t handle;
  TORCH_CHECK(
      PyBytes_GET_SIZE(handle_bytes) == sizeof(handle), "incorrect handle");
  std::memcpy(&handle, PyBytes_AS_STRING(handle_bytes), sizeof(handle));
  cudaEvent_t event = nullptr;
  C10_CUDA_CHECK(cudaIpcOpenEventHandle(&event, handle));
  C10_CUDA_CHECK(cudaStreamWaitEvent(
      c10::cuda::getCurrentCUDAStream(device), event, /*flags=*/0));
  // The wait is queued, so this process's half of the event can go. The driver
  // frees it when the wait is over.
  C10_CUDA_CHECK(cudaEventDestroy(event));
}

PyObject* share_cuda_(PyObject* self, PyObject* /*noargs*/) {
  HANDLE_TH_ERRORS
  THPStorage_assertNotNull(self);
  const auto& storage = THPStorage_Unpack(self);
  TORCH_CHECK(
      storage.device_type() == at::kCUDA,
      "_share_cuda_: only available on CUDA");
  TORCH_CHECK(
      !storage.unsafeGetStorageImpl()->received_cuda(),
      "Attempted to send CUDA tensor received from another process; this is "
      "not currently supported. Consider cloning before sending.");

  at::DeviceGuard device_guard(storage.device());
  const int device = storage.device().index();
  const size_t size_bytes = storage.nbytes();
  if (storage.data() == nullptr) {
    return py::make_tuple(
               device,
               py::none(),
               size_bytes,
               0,
               py::none(),
               0,
               py::none(),
               py::none())
        .release()
        .ptr();
  }

  const auto block =
      c10::cuda::CUDACachingAllocator::shareIpcHandle(storage.mutable_data());
  // From here on the storage owns the counter, and the counter its memory.
  auto memory = storage.set_data_ptr(torch::GetNewRefCountedSentData(
      storage.mutable_data(), storage.device()));
  auto* sent =
      static_cast<torch::CudaIPCSentData*>(storage.data_ptr().get_context());
  sent->set_original_ptr(std::move(memory));
  return py::make_tuple(
             device,
             py::bytes(block.handle),
             size_bytes,
             block.offset,
             py::bytes(sent->handle()),
             sent->offset(),
             event_handle(*sent),
             sent->event_sync_required_)
      .release()
      .ptr();
  END_HANDLE_TH_ERRORS
}

PyObject* new_shared_cuda(PyObject* /*unused*/, PyObject* args) {
  HANDLE_TH_ERRORS
  TORCH_CHECK(PyTuple_GET_SIZE(args) == 8, "tuple of 8 items expected");
  PyObject* device_arg = PyTuple_GET_ITEM(args, 0);
  PyObject* block_handle = PyTuple_GET_ITEM(args, 1);
  PyObject* size_bytes = PyTuple_GET_ITEM(args, 2);
  PyObject* offset_bytes = PyTuple_GET_ITEM(args, 3);
  PyObject* counter_file = PyTuple_GET_ITEM(args, 4);
  PyObject* counter_index = PyTuple_GET_ITEM(args, 5);
  PyObject* event = PyTuple_GET_ITEM(args, 6);
  PyObject* event_required = PyTuple_GET_ITEM(args, 7);
  if (!THPUtils_checkLong(device_arg) || !PyBytes_Check(block_handle) ||
      !THPUtils_checkLong(size_bytes) || !THPUtils_checkLong(offset_bytes) ||
      !PyBytes_Check(counter_file) || !THPUtils_checkLong(counter_index) ||
      !PyBytes_Check(event) || !PyBool_Check(event_required)) {
    THPUtils_invalidArguments(
        args,
        nullptr,
        "_new_shared in CUDA mode",
        1,
        "(int device, bytes handle, int storage_size_bytes, "
        "int storage_offset_bytes, bytes _ref_counter, "
        "int _ref_counter_offset, bytes event_handle, "
        "bool event_sync_required)");
    return nullptr;
  }

  const auto device = c10::checked_convert<c10::DeviceIndex>(
      THPUtils_unpackLong(device_arg), "c10::DeviceIndex");
  c10::cuda::CUDAGuard device_guard(device);
  if (event_required == Py_True) {
    wait_for_event(event, device);
  }

  auto received = std::make_unique<Received>(Received{
      c10::cuda::CUDACachingAllocator::getIpcDevPtr(as_string(block_handle)),
      as_string(counter_file),
      static_cast<ptrdiff_t>(THPUtils_unpackLong(counter_index)),
      device});
  void* memory = static_cast<char*>(received->block.get()) +
      THPUtils_unpackLong(offset_bytes);
  const at::Device owner(at::kCUDA, c10::cuda::current_device());
  c10::DataPtr data_ptr(memory, received.release(), &release_received, owner);
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(),
      static_cast<size_t>(THPUtils_unpackLong(size_bytes)),
      std::move(data_ptr),
      /*allocator=*/nullptr,
      /*resizable=*/false);
  storage->set_received_cuda(true);
  return THPStorage_NewWithStorage(
      THPStorageClass,
      std::move(storage),
      c10::impl::PyInterpreterStatus::TAGGED_BY_US);
  END_HANDLE_TH_ERRORS
}

PyObject* release_ipc_counter_cuda(PyObject* /*unused*/, PyObject* args) {
  HANDLE_TH_ERRORS
  TORCH_CHECK(PyTuple_GET_SIZE(args) == 2, "tuple of 2 items expected");
  PyObject* counter_file = PyTuple_GET_ITEM(args, 0);
  PyObject* counter_index = PyTuple_GET_ITEM(args, 1);
  if (!PyBytes_Check(counter_file) || !THPUtils_checkLong(counter_index)) {
    THPUtils_invalidArguments(
        args,
        nullptr,
        "_release_ipc_counter in CUDA mode",
        1,
        "(bytes _ref_counter, int _ref_counter_offset)");
    return nullptr;
  }
  count_down(as_string(counter_file), THPUtils_unpackLong(counter_index));
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

} // namespace

void init_storage_sharing(py::module_& torch_c, Swaps& swaps) {
  // The CPU build's three functions only say that there is no CUDA; a storage
  // on another device is refused by the new ones, as in a CUDA build.
  py::object storage_base = torch_c.attr("StorageBase");
  swaps.function(storage_base, "_share_cuda_", METH_NOARGS, share_cuda_);
  swaps.function(
      storage_base, "_new_shared_cuda", METH_VARARGS, new_shared_cuda);
  swaps.function(
      storage_base,
      "_release_ipc_counter_cuda",
      METH_VARARGS,
      release_ipc_counter_cuda);
}

} // namespace torch_cuda::intra_file
