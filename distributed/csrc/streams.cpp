// What lives here: the one function of upstream's bindings that those of NCCL
// call. Its own definition is in torch/csrc/cuda/utils.cpp, part of the core's
// extension module, which is no library to link to.
#include <torch/csrc/python_headers.h>

#include <c10/cuda/CUDAStream.h>
#include <pybind11/pybind11.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Stream.h>
#include <torch/csrc/utils.h>

#include <optional>
#include <vector>

namespace py = pybind11;

// obj: a sequence of torch.cuda.Stream and None, which stands for a device's
// current stream. Raises TypeError for anything else.
std::vector<std::optional<at::cuda::CUDAStream>>
THPUtils_PySequence_to_CUDAStreamList(PyObject* obj) {
  if (PySequence_Check(obj) == 0) {
    throw torch::TypeError("streams: expected a sequence of torch.cuda.Stream");
  }
  const py::object cuda_stream =
      py::module_::import("torch.cuda").attr("Stream");
  std::vector<std::optional<at::cuda::CUDAStream>> streams;
  for (const auto& item : py::reinterpret_borrow<py::sequence>(obj)) {
    if (item.is_none()) {
      streams.emplace_back();
    } else if (py::isinstance(item, cuda_stream)) {
      const auto* stream = reinterpret_cast<const THPStream*>(item.ptr());
      streams.emplace_back(at::cuda::CUDAStream::unpack3(
          stream->stream_id,
          static_cast<c10::DeviceIndex>(stream->device_index),
          static_cast<c10::DeviceType>(stream->device_type)));
    } else {
      throw torch::TypeError(
          "streams: expected torch.cuda.Stream or None, found %s",
          THPUtils_typename(item.ptr()));
    }
  }
  return streams;
}
