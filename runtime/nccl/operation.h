// What a call of the API asks for, and how it is carried out once its stream
// has come to it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "runtime/nccl/board.h"
#include "runtime/nccl/communicator.h"

namespace accelerator::nccl {

struct Operation {
  Signature signature;
  const void* send = nullptr;
  void* receive = nullptr;
  /// The factor of a scaled sum: its bits, or where they are when the operation
  /// runs.
  std::uint64_t factor = 0;
  const void* factor_on_device = nullptr;
  cudaStream_t stream = nullptr;
};

/// Bytes that an operation reads and writes at a rank.
std::size_t bytes_to_send(const Communicator& own, const Operation& operation);
std::size_t bytes_to_receive(
    const Communicator& own,
    const Operation& operation);

/// Carries out one collective, together with all other ranks.
/// @throws Aborted, Error.
void run_collective(Communicator& own, const Operation& operation);

/// Carries out sends and receives, all at the same time.
/// @throws Aborted, Error.
void run_point_to_point(
    Communicator& own,
    const std::vector<Operation>& operations);

/// While it lives, other ranks see that this one uses their memory; only for
/// what takes its time and waits for nobody.
class Working {
 public:
  explicit Working(Communicator& own);
  ~Working();
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

 private:
  Communicator& own_;
};

} // namespace accelerator::nccl
