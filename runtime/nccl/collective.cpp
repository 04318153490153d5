// A collective: each rank shows its buffers, does its share on the buffers of
// all ranks, and waits until the others have done theirs.
#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/nccl/describe.h"
#include "runtime/nccl/error.h"
#include "runtime/nccl/memory.h"
#include "runtime/nccl/numeric/reduce.h"
#include "runtime/nccl/operation.h"

namespace accelerator::nccl {
namespace {

// A reduction is done in pieces of so many bytes, or more when these are too
// many to be counted.
constexpr std::size_t kPieceBytes = 128 << 10;
constexpr std::size_t kMostPieces = 1 << 20;

/// A buffer of this rank that other ranks can reach, itself or a copy.
class Shown {
 public:
  Shown(
      Communicator& own,
      std::size_t slot,
      const void* buffer,
      std::size_t bytes,
      Exposure* exposure) {
    if (!expose(buffer, bytes, own.elsewhere(), exposure)) {
      copy_ = own.staging.get(slot, bytes, exposure);
    }
  }
  /// Null when the buffer itself can be reached.
  void* copy() const {
    return copy_;
  }

 private:
  void* copy_ = nullptr;
};

std::size_t element_bytes(const Operation& operation) {
  return size_of(operation.signature.type);
}

/// At the most what a std::size_t holds, which no memory has.
std::size_t times(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  return __builtin_mul_overflow(a, b, &product)
      ? std::numeric_limits<std::size_t>::max()
      : product;
}

bool is_root(const Communicator& own, const Operation& operation) {
  return own.rank() == operation.signature.other;
}

/// The factors of all ranks as inputs of a reduction, from an element on.
std::vector<Input> inputs_from(
    const Communicator& own,
    const std::vector<unsigned char*>& sends,
    std::size_t offset) {
  std::vector<Input> inputs;
  for (int rank = 0; rank < own.ranks(); ++rank) {
    inputs.push_back(
        {sends[static_cast<std::size_t>(rank)] + offset,
         own.board().place(rank).factor});
  }
  return inputs;
}

/// The buffers of all ranks, in this process.
std::vector<unsigned char*> reach_all(
    Communicator& own,
    Exposure Place::* exposure) {
  std::vector<unsigned char*> buffers;
  for (int rank = 0; rank < own.ranks(); ++rank) {
    buffers.push_back(static_cast<unsigned char*>(
        reach(own.board().place(rank).*exposure, own.peer_staging)));
  }
  return buffers;
}

/// Reduces pieces, for all ranks that want the result, until none is left: a
/// rank that has no processor at the moment leaves more to the others.
void reduce_pieces(Communicator& own, const Operation& operation) {
  const Signature& what = operation.signature;
  const std::size_t size = element_bytes(operation);
  const std::size_t piece =
      std::max(kPieceBytes / size, what.count / kMostPieces + 1);
  const auto pieces =
      static_cast<std::uint32_t>((what.count + piece - 1) / piece);
  const std::vector<unsigned char*> sends = reach_all(own, &Place::send);
  std::vector<unsigned char*> receives;
  if (what.kind == Kind::kReduce) {
    receives.push_back(static_cast<unsigned char*>(
        reach(own.board().place(what.other).receive, own.peer_staging)));
  } else {
    receives = reach_all(own, &Place::receive);
  }
  std::uint32_t taken = 0;
  while ((taken = own.board().take(own.collectives, pieces)) < pieces) {
    const std::size_t begin = taken * piece;
    const std::size_t count = std::min(what.count - begin, piece);
    const std::size_t offset = begin * size;
    std::vector<void*> outputs;
    for (unsigned char* receive : receives) {
      outputs.push_back(receive + offset);
    }
    reduce(
        what.type,
        what.reduction,
        inputs_from(own, sends, offset),
        outputs,
        count);
  }
}

void copy(void* to, const void* from, std::size_t bytes) {
  if (to != from && bytes != 0) {
    std::memmove(to, from, bytes);
  }
}

/// This rank's share of the work.
void do_share(Communicator& own, const Operation& operation) {
  const Signature& what = operation.signature;
  const std::size_t bytes = what.count * element_bytes(operation);
  const auto rank = static_cast<std::size_t>(own.rank());
  switch (what.kind) {
    case Kind::kAllReduce:
    case Kind::kReduce:
      reduce_pieces(own, operation);
      break;
    case Kind::kBroadcast:
      copy(
          operation.receive,
          reach(own.board().place(what.other).send, own.peer_staging),
          bytes);
      break;
    case Kind::kAllGather: {
      const auto sends = reach_all(own, &Place::send);
      auto* to = static_cast<unsigned char*>(operation.receive);
      for (std::size_t from = 0; from < sends.size(); ++from) {
        copy(to + from * bytes, sends[from], bytes);
      }
      break;
    }
    case Kind::kAllToAll: {
      const auto sends = reach_all(own, &Place::send);
      auto* to = static_cast<unsigned char*>(operation.receive);
      for (std::size_t from = 0; from < sends.size(); ++from) {
        copy(to + from * bytes, sends[from] + rank * bytes, bytes);
      }
      break;
    }
    case Kind::kGather:
      if (is_root(own, operation)) {
        const auto sends = reach_all(own, &Place::send);
        auto* to = static_cast<unsigned char*>(operation.receive);
        for (std::size_t from = 0; from < sends.size(); ++from) {
          copy(to + from * bytes, sends[from], bytes);
        }
      }
      break;
    case Kind::kScatter: {
      const auto* from = static_cast<const unsigned char*>(
          reach(own.board().place(what.other).send, own.peer_staging));
      copy(operation.receive, from + rank * bytes, bytes);
      break;
    }
    case Kind::kReduceScatter:
      reduce(
          what.type,
          what.reduction,
          inputs_from(own, reach_all(own, &Place::send), rank * bytes),
          {operation.receive},
          what.count);
      break;
    default:
      break;
  }
}

/// Whether other ranks write the result of this one.
bool is_written_by_others(const Communicator& own, const Operation& operation) {
  return operation.signature.kind == Kind::kAllReduce ||
      (operation.signature.kind == Kind::kReduce && is_root(own, operation));
}

std::uint64_t factor_of(const Operation& operation) {
  std::uint64_t bits = operation.factor;
  if (operation.factor_on_device != nullptr) {
    bits = 0;
    std::memcpy(&bits, operation.factor_on_device, element_bytes(operation));
  }
  return bits;
}

} // namespace

Working::Working(Communicator& own) : own_(own) {
  // Either a rank that is being aborted sees that this one works, or this one
  // sees that it is.
  own.own_place().working = 1;
  for (int rank = 0; rank < own.ranks(); ++rank) {
    if (own.board().place(rank).aborted != 0) {
      own.own_place().working = 0;
      own.wait_for_abort();
    }
  }
}

Working::~Working() {
  own_.own_place().working = 0;
}

std::size_t bytes_to_send(const Communicator& own, const Operation& operation) {
  const Signature& what = operation.signature;
  const std::size_t bytes = times(what.count, element_bytes(operation));
  switch (what.kind) {
    case Kind::kReduceScatter:
    case Kind::kAllToAll:
      return times(bytes, static_cast<std::size_t>(own.ranks()));
    case Kind::kBroadcast:
      return is_root(own, operation) ? bytes : 0;
    case Kind::kScatter:
      return is_root(own, operation)
          ? times(bytes, static_cast<std::size_t>(own.ranks()))
          : 0;
    case Kind::kReceive:
      return 0;
    default:
      return bytes;
  }
}

std::size_t bytes_to_receive(
    const Communicator& own,
    const Operation& operation) {
  const Signature& what = operation.signature;
  const std::size_t bytes = times(what.count, element_bytes(operation));
  switch (what.kind) {
    case Kind::kAllGather:
    case Kind::kAllToAll:
      return times(bytes, static_cast<std::size_t>(own.ranks()));
    case Kind::kGather:
      return is_root(own, operation)
          ? times(bytes, static_cast<std::size_t>(own.ranks()))
          : 0;
    case Kind::kReduce:
      return is_root(own, operation) ? bytes : 0;
    case Kind::kSend:
      return 0;
    default:
      return bytes;
  }
}

void run_collective(Communicator& own, const Operation& operation) {
  const Board& board = own.board();
  Place& place = own.own_place();
  const std::size_t bytes = bytes_to_send(own, operation);
  // All ranks are through with what was shown before.
  const Shown send(own, 0, operation.send, bytes, &place.send);
  copy(send.copy(), operation.send, send.copy() == nullptr ? 0 : bytes);
  const std::size_t result_bytes = is_written_by_others(own, operation)
      ? bytes_to_receive(own, operation)
      : 0;
  const Shown receive(own, 1, operation.receive, result_bytes, &place.receive);
  place.factor = factor_of(operation);
  place.signature = operation.signature;
  place.waiting_at = operation.signature;

  const std::uint64_t number = ++own.collectives;
  place.arrived = number;
  board.ring_all();
  const auto everywhere = [&](std::atomic<std::uint64_t> Place::* counter) {
    const auto awaits = [&board, counter, number](int rank) {
      return board.place(rank).*counter < number;
    };
    own.wait(
        [&] {
          for (int rank = 0; rank < own.ranks(); ++rank) {
            if (awaits(rank)) {
              return false;
            }
          }
          return true;
        },
        awaits);
  };
  everywhere(&Place::arrived);
  for (int rank = 0; rank < own.ranks(); ++rank) {
    if (!same(board.place(rank).signature, operation.signature)) {
      own.tell_where_ranks_are("the ranks' collectives do not fit together");
      own.wait_for_abort();
    }
  }
  {
    const Working working(own);
    do_share(own, operation);
    place.finished = number;
  }
  board.ring_all();
  everywhere(&Place::finished);
  copy(
      operation.receive,
      receive.copy(),
      receive.copy() == nullptr ? 0 : result_bytes);
}

} // namespace accelerator::nccl
