// Memory of allocation nodes.
// Source: CUDA C++ programming guide, "Graph Memory Nodes".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "accelerator/runtime/core/memory/memory_pool.h"

namespace accelerator::runtime {

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

  std::shared_ptr<MemoryPool> pool_;
  std::size_t bytes_;
  void* address_;
  bool live_ = false;
};

/// What the graphs have of a device's memory, and had at the most, in bytes.
/// What a graph leaves to the program when it goes is its no longer.
struct GraphMemoryUse {
  std::uint64_t live = 0; // allocated by a launch and not freed
  std::uint64_t live_high = 0;
  std::uint64_t reserved = 0;
  std::uint64_t reserved_high = 0;
};

GraphMemoryUse graph_memory_use(const Device& device);
/// The highest figures begin again with those of now.
void restart_live_high(const Device& device);
void restart_reserved_high(const Device& device);

/// Frees memory whose graph is there: its address stays with the graph.
/// @returns false for other memory.
bool free_graph_memory(void* address);

} // namespace accelerator::runtime
