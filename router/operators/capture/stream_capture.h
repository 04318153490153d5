// Captures of CUDA streams into graphs.
#pragma once

#include <c10/core/Device.h>
#include <cuda_runtime_api.h>

#include <memory>
#include <string>

namespace torch_cuda::operators {

/// Whether the current stream of a device is being captured.
bool is_captured(c10::DeviceIndex device);

/// The graph that a stream is captured into; null: the stream is not captured,
/// or no longer.
cudaGraph_t captured_graph(cudaStream_t stream);

/// Work of the host in a graph. It is done at each replay, in its turn, on a
/// thread of the device, where it must not call CUDA.
class GraphWork {
 public:
  virtual ~GraphWork() = default;
  /// Does the work. Must not throw.
  virtual void run() noexcept = 0;
};

/// Puts work into the graph that the current stream of a device is captured
/// into. It lives as long as the graph and what is made of it, runs that are
/// under way among them. Throws CUDA's error where the stream is not captured,
/// or no longer.
/// @param name of the kernel that profilers take it for.
void put_into_graph(
    c10::DeviceIndex device,
    std::unique_ptr<GraphWork> work,
    const std::string& name);

} // namespace torch_cuda::operators
