// The contexts that make staged channels, and what else
// include/tensorpipe/tensorpipe_cuda.h declares.
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda.h>
#include <tensorpipe/tensorpipe_cuda.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "distributed/tensorpipe/staged_channel.h"

namespace torch_cuda_distributed {
namespace {

using tensorpipe::Device;
using tensorpipe::channel::Channel;
using tensorpipe::channel::Context;

class StagedContext final : public Context {
 public:
  /// @param host null: the context cannot be used.
  explicit StagedContext(std::shared_ptr<Context> host)
      : host_(std::move(host)) {
    if (host_ == nullptr || !host_->isViable()) {
      return;
    }
    const auto& of_host = host_->deviceDescriptors();
    const auto cpu = of_host.find(Device{tensorpipe::kCpuDeviceType, 0});
    if (cpu == of_host.end()) {
      return;
    }
    for (int i = 0; i < c10::cuda::device_count(); ++i) {
      devices_.emplace(Device{tensorpipe::kCudaDeviceType, i}, cpu->second);
    }
  }

  bool isViable() const override {
    return !devices_.empty();
  }
  std::size_t numConnectionsNeeded() const override {
    return host_->numConnectionsNeeded();
  }
  const std::unordered_map<Device, std::string>& deviceDescriptors()
      const override {
    return devices_;
  }
  bool canCommunicateWithRemote(
      const std::string& local,
      const std::string& remote) const override {
    return host_->canCommunicateWithRemote(local, remote);
  }
  std::shared_ptr<Channel> createChannel(
      std::vector<std::shared_ptr<tensorpipe::transport::Connection>>
          connections,
      tensorpipe::channel::Endpoint endpoint) override {
    return std::make_shared<StagedChannel>(
        host_->createChannel(std::move(connections), endpoint));
  }
  void setId(std::string id) override {
    if (host_ != nullptr) {
      host_->setId(id + ".host");
    }
  }
  void close() override {
    if (host_ != nullptr) {
      host_->close();
    }
  }
  void join() override {
    if (host_ != nullptr) {
      host_->join();
    }
  }

 private:
  std::shared_ptr<Context> host_;
  std::unordered_map<Device, std::string> devices_; // with their descriptors
};

/// A function of the driver, whose library is not linked to; null where it has
/// none of that name.
template <typename Function>
Function* driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t status =
      cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
  return status == cudaSuccess && found == cudaDriverEntryPointSuccess
      ? reinterpret_cast<Function*>(function)
      : nullptr;
}

/// The device of a stream: of its own context, or the current one for the
/// stream that every device has.
int device_of(cudaStream_t stream) {
  static auto* const context_of =
      driver_function<CUresult(CUstream, CUcontext*)>("cuStreamGetCtx");
  static auto* const push =
      driver_function<CUresult(CUcontext)>("cuCtxPushCurrent");
  static auto* const pop =
      driver_function<CUresult(CUcontext*)>("cuCtxPopCurrent");
  CUcontext context = nullptr;
  int device = 0;
  if (stream != nullptr && context_of != nullptr && push != nullptr &&
      pop != nullptr && context_of(stream, &context) == CUDA_SUCCESS &&
      push(context) == CUDA_SUCCESS) {
    C10_CUDA_IGNORE_ERROR(cudaGetDevice(&device));
    pop(&context);
  } else {
    C10_CUDA_IGNORE_ERROR(cudaGetDevice(&device));
  }
  return device;
}

} // namespace
} // namespace torch_cuda_distributed

namespace tensorpipe {

Device CudaBuffer::getDevice() const {
  cudaPointerAttributes attributes{};
  if (ptr != nullptr &&
      cudaPointerGetAttributes(&attributes, ptr) == cudaSuccess &&
      attributes.device >= 0) {
    return Device{kCudaDeviceType, attributes.device};
  }
  return Device{kCudaDeviceType, torch_cuda_distributed::device_of(stream)};
}

namespace channel {

std::shared_ptr<Context> cuda_basic::create(std::shared_ptr<Context> host) {
  return std::make_shared<torch_cuda_distributed::StagedContext>(
      std::move(host));
}

std::shared_ptr<Context> cuda_xth::create() {
  return std::make_shared<torch_cuda_distributed::StagedContext>(nullptr);
}

} // namespace channel
} // namespace tensorpipe
