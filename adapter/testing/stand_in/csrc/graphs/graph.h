// Graphs: operators and kernels that were recorded, with their memory.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "adapter/testing/stand_in/csrc/graphs/recording.h"

namespace torch_stand_in {

/// A graph. What is captured runs, as the shapes of later steps depend on it;
/// at the end memory and generators are as they were at the beginning, so that
/// a capture has done nothing.
class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// @throws c10::Error when another is being captured, or this one has been.
  void capture_begin();
  void capture_end();
  void replay();
  /// Gives back its memory. It can be captured again.
  void reset();

 private:
  struct Saved {
    void* address;
    std::vector<char> bytes;
  };

  void save();
  void restore();

  Recording recording_;
  bool captured_ = false;
  bool capturing_ = false;
  uint64_t hold_ = 0; // the allocator's name for its memory
  std::vector<Saved> memory_;
  std::vector<at::Tensor> generators_; // states
};

/// Whether a graph is being captured.
bool is_capturing();

} // namespace torch_stand_in
