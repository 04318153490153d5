// Memory of allocation nodes.
// Source: CUDA C++ programming guide, "Graph Memory Nodes".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/core/memory/memory_pool.h"

namespace accelerator::runtime {

class AddressMap;
struct MemoryStep;

/// What an allocation node gives. It has its address from the beginning,
/// because kernels of the graph are given it while the graph is made, and keeps
/// it as long as there is the graph or something that was made of it: nobody
/// else gets it in between. A launch makes it live. What is live when the last
/// graph goes stays, as memory of its pool, until the program frees it.
class GraphMemory {
 public:
  /// @throws Failure with cudaErrorMemoryAllocation.
  GraphMemory(std::shared_ptr<MemoryPool> pool, std::size_t bytes);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  MemoryPool& pool() const {
    return *pool_;
  }
  std::size_t bytes() const {
    return bytes_;
  }
  void* address() const {
    return address_;
  }

  /// A launch has come to the node.
  void allocate();

 private:
  friend bool free_graph_memory(void* address);
  friend void note_free(void* address);
  friend void note_launch(
      const std::vector<MemoryStep>& steps,
      bool free_first);
  friend void require_allocated(const AddressMap& map, const void* address);
  friend void trim_graph_memory(const Device& device);

  // Lets the device's kernels use it, or no longer, where the device can.
  void open(bool to_kernels) const;

  std::shared_ptr<MemoryPool> pool_;
  std::size_t bytes_;
  void* address_;
  bool allocated_ = false; // by the program's calls, which streams are behind
  bool live_ = false;
  bool mapped_ = false; // counted
};

/// What the graphs have of a device's memory, and had at the most, in bytes: a
/// graph gets it at its first launch. It is counted until the device is trimmed
/// after it was freed, even where its graph is gone by then.
/// Source: CUDA's sample graphMemoryFootprint.
struct GraphMemoryUse {
  std::uint64_t mapped = 0;
  std::uint64_t unused = 0; // of it, what was freed behind its graph
  std::uint64_t used_high = 0;
  std::uint64_t reserved_high = 0;
};

GraphMemoryUse graph_memory_use(const Device& device);
/// The highest figures begin again with those of now.
void restart_used_high(const Device& device);
void restart_reserved_high(const Device& device);
/// Counts no longer what is free.
void trim_graph_memory(const Device& device);

/// Frees memory whose graph is there, where a stream has come to that: its
/// address stays with the graph.
/// @returns false for other memory, which the caller frees.
bool free_graph_memory(void* address);

/// What a launch does to memory.
struct MemoryStep {
  GraphMemory* allocates = nullptr; // or
  void* frees = nullptr;
};

/// A launch is about to be put into a stream: for calls that follow its memory
/// is allocated, or freed.
/// @param steps in their order.
/// @param free_first what is still allocated is freed before.
/// @throws Failure: cudaErrorInvalidValue, and nothing has changed, where a
/// node would allocate what is still allocated (CUDA driver API,
/// cuGraphLaunch), or free what is not.
void note_launch(const std::vector<MemoryStep>& steps, bool free_first);

/// The same for a call that frees memory, which may be of no graph.
/// @throws Failure: cudaErrorInvalidValue for a graph's that is not allocated.
void note_free(void* address);

/// To be called where a program's own call is about to use memory.
/// @param map all memory.
/// @throws Failure: cudaErrorInvalidValue for a graph's that is not allocated.
void require_allocated(const AddressMap& map, const void* address);

} // namespace accelerator::runtime
