// The machine: its devices and all that lives on them. There is one
// in a process, made at first use and never destroyed.
#pragma once

#include <driver_types.h>

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/core/machine/device.h"
#include "runtime/core/machine/settings.h"
#include "runtime/core/memory/address_map.h"
#include "runtime/core/status/handles.h"
#include "runtime/core/streams/event.h"

namespace accelerator::runtime {

class Function;
class Graph;
class GraphExec;
class MemoryPool;
class Module;

class Machine {
 public:
  explicit Machine(Settings settings);

  const Settings& settings() const {
    return settings_;
  }
  int device_count() const {
    return static_cast<int>(devices_.size());
  }
  /// @throws Failure: cudaErrorNoDevice or cudaErrorInvalidDevice.
  Device& device(int ordinal);
  /// The device that a piece of memory belongs to.
  /// @throws Failure: cudaErrorInvalidValue when it is none that is known.
  Device& device_of(const void* memory);
  /// Waits for all work of the devices that may use a piece of memory, which is
  /// about to go away.
  void synchronize_users(const Allocation& piece);
  AddressMap& addresses() {
    return addresses_;
  }
  HandleTable<Stream>& streams() {
    return streams_;
  }
  HandleTable<Event>& events() {
    return events_;
  }
  HandleTable<Graph>& graphs() {
    return graphs_;
  }
  HandleTable<GraphExec>& graph_execs() {
    return graph_execs_;
  }
  HandleTable<MemoryPool>& pools() {
    return pools_;
  }
  HandleTable<Module>& modules() {
    return modules_;
  }
  /// CUfunction and cudaFunction_t.
  HandleTable<Function>& functions() {
    return functions_;
  }

 private:
  Settings settings_;
  AddressMap addresses_;
  HandleTable<Stream> streams_;
  HandleTable<Event> events_;
  HandleTable<Graph> graphs_;
  HandleTable<GraphExec> graph_execs_;
  HandleTable<MemoryPool> pools_;
  HandleTable<Module> modules_;
  HandleTable<Function> functions_;
  std::vector<std::unique_ptr<Device>> devices_;
};

/// The machine of this process.
/// @throws Failure: cudaErrorInitializationError in a forked child of a process
/// that had used it (as with CUDA), or when the environment is wrong.
Machine& machine();

/// Whether there is one: after cuInit or the first use of the runtime.
bool machine_exists() noexcept;

/// The calling thread's device.
/// @throws Failure: with the device's fault when it has one.
Device& current_device();
/// The same without looking at its health and without making it active.
Device& selected_device();

/// The stream of a handle, with CUDA's three names for default streams.
/// @throws Failure: cudaErrorInvalidResourceHandle, or the device's fault.
std::shared_ptr<Stream> resolve_stream(cudaStream_t handle);

} // namespace accelerator::runtime
