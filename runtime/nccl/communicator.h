// One rank of a communicator: what it shares with the others, how it waits for
// them, and what has gone wrong with it.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/nccl/board.h"
#include "runtime/nccl/error.h"
#include "runtime/nccl/host_copies.h"
#include "runtime/nccl/staging.h"

namespace accelerator::nccl {

class Communicator;

} // namespace accelerator::nccl

/// The type behind ncclComm_t; NCCL leaves it open.
struct ncclComm {
  std::shared_ptr<accelerator::nccl::Communicator> communicator;
};

namespace accelerator::nccl {

/// What ends an operation when its communicator is aborted.
struct Aborted {};

/// An operator that ncclRedOpCreatePreMulSum made.
struct Factor {
  ncclDataType_t type;
  std::uint64_t bits; // the factor, unless it is on the device
  const void* on_device;
};

/// A place on a stream.
struct Mark {
  cudaEvent_t event = nullptr; // null: there is none
  cudaStream_t stream = nullptr;
  unsigned long long capture = 0; // which, in a graph
};

class Communicator {
 public:
  Communicator(int device, bool blocking);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  int ranks() const {
    return ranks_;
  }
  int rank() const {
    return rank_;
  }
  int device() const {
    return device_;
  }
  bool blocking() const {
    return blocking_;
  }

  /// Meets the other ranks; returns when all have come.
  /// @throws Error, Aborted.
  void join(const ncclUniqueId& id, int ranks, int rank);

  /// What ncclCommGetAsyncError says.
  ncclResult_t state() const {
    return state_;
  }
  /// Whether it ended with an error, or was aborted.
  bool has_failed() const {
    const ncclResult_t state = state_;
    return aborted_ || (state != ncclSuccess && state != ncclInProgress);
  }
  /// The first error stays.
  void set_state(ncclResult_t state);
  /// Sets an error and keeps its message.
  void fail(ncclResult_t result, const std::string& message);
  /// The same for what went wrong in an operation: that a rank has ended is the
  /// reason then, whatever was found first.
  void fail_in_operation(const Error& error);
  /// Waits for a rank that is ending to be seen as ended; a moment at most.
  void await_death() const;
  /// @throws Error unless the communicator can be used.
  void require_ready() const;

  /// Ends what waits, and makes sure that no other rank touches this rank's
  /// memory when it returns.
  void abort();
  bool aborted() const {
    return aborted_;
  }
  /// The same as abort(), but that others may be made of the communicator.
  void revoke() {
    revoked_ = true;
    abort();
  }
  bool revoked() const {
    return revoked_;
  }

  const Board& board() const {
    return *board_;
  }
  Place& own_place() const {
    return board_->place(rank_);
  }
  /// Whether ranks are in other processes.
  bool elsewhere() const {
    return elsewhere_;
  }
  /// Whether a rank's process has ended.
  bool is_dead(int rank) const;
  /// The first rank whose process has ended; negative when there is none.
  int first_dead() const;

  /// Sleeps until `ready`, which is asked again when another rank has rung. For
  /// operations on streams: when a rank that it waits for has ended, that is
  /// the communicator's error, and the wait goes on.
  /// @param awaits whether a rank keeps it waiting.
  /// @throws Aborted.
  void wait(
      const std::function<bool()>& ready,
      const std::function<bool(int)>& awaits);
  /// The same for calls, which end then, or after TORCH_CUDA_TIMEOUT seconds.
  /// @throws Error, Aborted.
  void wait_in_call(
      const std::function<bool()>& ready,
      const std::function<bool(int)>& awaits);
  /// Waits until the communicator is aborted.
  /// @throws Aborted.
  [[noreturn]] void wait_for_abort();

  /// Waits for a rank that is at work and waits for nobody, unless it has ended
  /// or does not get on.
  void wait_for_work(int rank, const std::function<bool()>& ready) const;

  /// Says once for all ranks what each of them is at.
  void tell_where_ranks_are(const char* finding) const;

  // What only the operation that runs uses, which is one at a time.
  std::mutex running;
  Staging staging;
  PeerStaging peer_staging;
  HostCopies host_copies;
  std::uint64_t collectives = 0; // so far
  std::vector<std::uint64_t> sent, received; // messages so far, by peer

  // What only one split at a time uses.
  std::mutex splitting;
  std::uint64_t splits = 0;
  // Communicators so far that some of the ranks, by their numbers, or all and
  // others besides (none), have made of this one; splitting guards it.
  std::map<std::vector<int>, std::uint64_t> descendants;

  // What launches use. A launch may wait for its stream, which only an abort
  // ends perhaps: nothing else waits for this mutex.
  std::mutex launching;
  /// Where the last operation outside of graphs ends, and the last one in one.
  Mark last, last_captured;

  // What other calls use.
  std::mutex mutex;
  std::vector<std::optional<Factor>> factors;
  /// Handles that ncclCommRegister has given, and how many these were.
  std::set<void*> registered;
  std::uintptr_t registrations = 0;
  /// What a call does in the background when the communicator does not block.
  std::thread background;

 private:
  void wait_until(
      const std::function<bool()>& ready,
      const std::function<void(double)>& now_and_then);
  std::string message_of_death(int rank) const;
  void require_no_dead_rank(const std::function<bool(int)>& awaits) const;
  void require_own_device() const;

  int ranks_ = 0;
  int rank_ = 0;
  int device_;
  bool blocking_;
  bool elsewhere_ = false;
  std::shared_ptr<Board> board_;
  std::atomic<bool> aborted_{false};
  std::atomic<bool> revoked_{false};
  std::atomic<ncclResult_t> state_{ncclInProgress};
  mutable std::mutex failure_mutex_;
  std::string failure_; // the message of the first error
};

/// Makes the handle that a program gets.
ncclComm_t publish(std::shared_ptr<Communicator> communicator);

/// The communicator of a handle.
/// @throws Error: ncclInvalidArgument.
std::shared_ptr<Communicator> find(ncclComm_t handle);

/// Takes a handle back; its communicator lives on as long as work needs it.
/// @throws Error: ncclInvalidArgument.
std::shared_ptr<Communicator> withdraw(ncclComm_t handle);

/// Chooses a device for the calling thread, until the end of the scope.
class DeviceGuard {
 public:
  /// @throws Error.
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_ = 0;
};

} // namespace accelerator::nccl
