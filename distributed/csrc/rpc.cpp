// What lives here: the implementation of give_cuda_to_rpc, see bindings.h.
#include "distributed/csrc/bindings.h"

#include <pybind11/stl.h>
#include <torch/csrc/distributed/rpc/request_callback_impl.h>
#include <torch/csrc/distributed/rpc/tensorpipe_agent.h>
#include <torch/csrc/utils/pybind.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace torch_cuda_distributed {

#ifdef USE_TENSORPIPE

namespace rpc = torch::distributed::rpc;

namespace {

// Serves requests as the CPU build does, and profiles with CUDA's times those
// that ask for it.
class CudaRequestCallback : public rpc::RequestCallbackImpl {
 public:
  bool cudaAvailable() const override {
    return true;
  }
};

void delete_without_gil(rpc::TensorPipeAgent* agent) {
  if (PyGILState_Check() != 0) {
    py::gil_scoped_release no_gil;
    delete agent;
  } else {
    delete agent;
  }
}

std::shared_ptr<rpc::TensorPipeAgent> make_agent(
    const c10::intrusive_ptr<c10d::Store>& store,
    std::string name,
    rpc::worker_id_t rank,
    std::optional<int> world_size,
    rpc::TensorPipeRpcBackendOptions options,
    std::unordered_map<std::string, rpc::DeviceMap> reverse_device_maps,
    std::vector<c10::Device> devices) {
  return {
      new rpc::TensorPipeAgent(
          store,
          std::move(name),
          rank,
          world_size,
          std::move(options),
          std::move(reverse_device_maps),
          std::move(devices),
          std::make_unique<CudaRequestCallback>()),
      &delete_without_gil};
}

} // namespace

void give_cuda_to_rpc(const py::module_& torch_c) {
  if (!py::hasattr(torch_c, "_distributed_rpc")) {
    return;
  }
  const py::object module = torch_c.attr("_distributed_rpc");
  if (!py::hasattr(module, "TensorPipeAgent")) {
    return;
  }
  using Agent = py::class_<
      rpc::TensorPipeAgent,
      rpc::RpcAgent,
      std::shared_ptr<rpc::TensorPipeAgent>>;
  auto agent =
      py::reinterpret_borrow<Agent>(module.attr("TensorPipeAgent").ptr());
  // In front of the constructor of the CPU build, which takes the same.
  agent.def(
      py::init(&make_agent),
      py::prepend(),
      py::arg("store"),
      py::arg("name"),
      py::arg("rank"),
      py::arg("world_size"),
      py::arg("rpc_backend_options"),
      py::arg("reverse_device_maps"),
      py::arg("devices"));
}

#else

void give_cuda_to_rpc(const py::module_& /*torch_c*/) {}

#endif

} // namespace torch_cuda_distributed
