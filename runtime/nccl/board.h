// What the ranks of a communicator share: a file in memory, without a name, in
// which each rank shows what it is at. Ranks wait for each other by looking at
// it.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/nccl/numeric/types.h"

namespace accelerator::nccl {

/// What an operation is, as far as the ranks have to agree on it.
enum class Kind : std::uint32_t {
  kNone,
  kAllReduce,
  kReduce,
  kBroadcast,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kGather,
  kScatter,
  kSend,
  kReceive,
};

struct Signature {
  Kind kind = Kind::kNone;
  ncclDataType_t type = ncclInt8;
  Reduction reduction = Reduction::kSum;
  std::int32_t other = 0; // the root, or the peer
  std::uint64_t count = 0; // as given to the call
};

/// A buffer as another rank finds it.
struct Exposure {
  std::uint64_t process = 0; // whose address it is (device/host/process.h)
  std::uint64_t address = 0;
  // For other processes: device memory by its handle,
  std::uint64_t offset = 0; // of the address in the memory of the handle
  cudaIpcMemHandle_t handle = {};
  // or, with a key that is not 0, a slot of staging by its file.
  std::uint64_t key = 0;
  std::uint64_t staging = 0;
  std::uint64_t slot = 0;
  std::int32_t pid = 0;
  std::int32_t file = -1;
};

/// Sends up to this many bytes end without their receiver.
inline constexpr std::size_t kEagerBytes = 16384;

/// One send of a rank to another, in a ring of them.
struct Message {
  enum State : std::uint32_t {
    kFree,
    kSent, // by the sender
    kCopying, // by the receiver, from the sender's memory
    kTaken, // the sender may use its memory again
    kWithdrawn, // the sender has been aborted
  };
  std::atomic<std::uint32_t> state;
  std::uint32_t eager; // whether the bytes are here
  Signature signature;
  Exposure data;
  unsigned char bytes[kEagerBytes];
};

inline constexpr std::uint64_t kMessages = 8; // of a pair of ranks at a time

/// What one rank shows. Only it writes there, except for the bell.
struct alignas(64) Place {
  /// Counts up when something changes that the rank may wait for.
  std::atomic<std::uint32_t> bell;
  std::atomic<std::uint32_t> sleepers;

  /// 0 until the rank has come; then its process (device/ipc).
  std::atomic<std::uint64_t> process;
  std::atomic<std::uint32_t> joined;
  std::atomic<std::uint32_t> aborted;
  /// Whether it reads or writes memory of other ranks.
  std::atomic<std::uint32_t> working;
  char bus_id[32]; // of its device

  /// Collectives that it has come to, and that it has finished its part of.
  std::atomic<std::uint64_t> arrived;
  std::atomic<std::uint64_t> finished;
  // Of the collective that it has come to last:
  Signature signature;
  Exposure send;
  Exposure receive;
  std::uint64_t factor;

  /// The same for splits.
  std::atomic<std::uint64_t> split_arrived;
  std::atomic<std::uint64_t> split_finished;
  std::int32_t color;
  std::int32_t key;
  /// Set by the first rank of a new communicator, for split_named-th split.
  std::atomic<std::uint64_t> split_named;
  ncclUniqueId child;

  /// An id of a new communicator for some of the ranks, and what it is for: a
  /// number that no other has whom this rank gives one.
  std::atomic<std::uint64_t> named_for;
  ncclUniqueId named;

  /// Odd while it waits; counts up.
  std::atomic<std::uint64_t> waits;
  Signature waiting_at;
};

/// The ranks' shared file, mapped. There is one in a process however many of
/// its threads are ranks.
class Board {
 public:
  /// Makes a file, and an id by which processes of this machine can find it as
  /// long as this process lives.
  static ncclUniqueId create();

  /// Gives up the file of an id that this process made and nobody will use.
  static void discard(const ncclUniqueId& id);

  /// Maps the file of an id.
  /// @throws Error: ncclInvalidArgument for what is no id, or when other ranks
  /// gave another number of ranks; ncclRemoteError when the process that made
  /// it has ended.
  static std::shared_ptr<Board> open(const ncclUniqueId& id, int ranks);

  /// @param file of which it takes the descriptor.
  Board(int file, std::uint64_t key, int ranks);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  int ranks() const {
    return ranks_;
  }
  /// A number that no other communicator has.
  std::uint64_t key() const {
    return key_;
  }
  Place& place(int rank) const;
  /// The n-th message of a rank to another; n counts from 0.
  Message& message(int from, int to, std::uint64_t n) const;

  /// Something has changed that this rank, or any rank, may wait for.
  void ring(int rank) const;
  void ring_all() const;

  /// Takes a piece of the work of a collective that any rank can do.
  /// @param number of the collective, which all ranks are at.
  /// @returns a number below `pieces`, once for each of them; then `pieces`.
  std::uint32_t take(std::uint64_t number, std::uint32_t pieces) const;

  /// Whether this is the first time that anyone asks: for reports of what
  /// concerns all ranks.
  bool first_to_tell() const;

  /// All ranks have come: nobody will ask for the id any more.
  void forget_id() const;

 private:
  struct Header;

  Header& header() const;

  void* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t key_;
  int ranks_;
};

/// Sleeps until the bell has another number, or some time has gone by.
void sleep_at(Place& place, std::uint32_t bell);

} // namespace accelerator::nccl
