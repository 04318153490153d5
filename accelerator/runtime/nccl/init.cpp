#include "accelerator/runtime/nccl/init.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "accelerator/runtime/nccl/communicator.h"
#include "accelerator/runtime/nccl/error.h"
#include "accelerator/runtime/nccl/group.h"

namespace accelerator::nccl {
namespace {

// The value that NCCL_CONFIG_INITIALIZER has.
constexpr unsigned kConfigMagic = 0xcafebeef;

/// Whether calls wait until they are done.
bool blocks(const ncclConfig_t* config, bool otherwise) {
  if (config == nullptr) {
    return otherwise;
  }
  require(
      config->magic == kConfigMagic,
      ncclInvalidArgument,
      "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
  const int blocking = config->blocking;
  require(
      blocking == NCCL_CONFIG_UNDEF_INT || blocking == 0 || blocking == 1,
      ncclInvalidArgument,
      "Invalid config blocking attribute value " + std::to_string(blocking) +
          "; it has to be 0 or 1");
  return blocking == NCCL_CONFIG_UNDEF_INT ? otherwise : blocking == 1;
}

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device));
  check(cudaFree(nullptr)); // makes its context, as NCCL does
  return device;
}

/// Adds the work to the group; a communicator that blocks and cannot be brought
/// up is none, as its handle says then.
template <typename Work>
void add_job(
    const std::shared_ptr<Communicator>& watched,
    const std::shared_ptr<Communicator>& made,
    ncclComm_t* comm,
    Work work) {
  add(Job{watched, [made, comm, work = std::move(work)] {
            try {
              work();
              if (made != nullptr) {
                made->set_state(ncclSuccess);
              }
            } catch (const Error& error) {
              if (made != nullptr && made->blocking()) {
                withdraw(*comm);
                *comm = nullptr;
              } else if (made != nullptr) {
                made->fail(error.result(), error.what());
              }
              throw;
            }
          }});
}

struct Member {
  int key;
  int rank;
};

/// The ranks of a color, in the order of their new numbers.
std::vector<Member> members_of(const Board& board, int color) {
  std::vector<Member> members;
  for (int rank = 0; rank < board.ranks(); ++rank) {
    const Place& place = board.place(rank);
    if (place.color == color) {
      members.push_back({place.key, rank});
    }
  }
  std::stable_sort(
      members.begin(), members.end(), [](const Member& a, const Member& b) {
        return a.key < b.key;
      });
  return members;
}

/// What ranks tell each other in a split.
struct Part {
  int ranks = 0; // of the new communicator; 0 without one
  int rank = 0;
  ncclUniqueId id = {};
};

void wait_for_all(
    Communicator& own,
    std::atomic<std::uint64_t> Place::* counter,
    std::uint64_t number) {
  const auto awaits = [&](int rank) {
    return own.board().place(rank).*counter < number;
  };
  own.wait_in_call(
      [&] {
        for (int rank = 0; rank < own.ranks(); ++rank) {
          if (awaits(rank)) {
            return false;
          }
        }
        return true;
      },
      awaits);
}

Part divide(Communicator& own, int color, int key) {
  const std::lock_guard lock(own.splitting);
  const Board& board = own.board();
  Place& place = own.own_place();
  const std::uint64_t number = ++own.splits;
  // Nobody looks at the last split any more.
  wait_for_all(own, &Place::split_finished, number - 1);
  place.color = color;
  place.key = key;
  place.split_arrived = number;
  board.ring_all();
  wait_for_all(own, &Place::split_arrived, number);

  Part part;
  if (color != NCCL_SPLIT_NOCOLOR) {
    const std::vector<Member> members = members_of(board, color);
    part.ranks = static_cast<int>(members.size());
    while (members[static_cast<std::size_t>(part.rank)].rank != own.rank()) {
      ++part.rank;
    }
    const int first = members.front().rank;
    Place& maker = board.place(first);
    if (part.rank == 0) {
      place.child = Board::create();
      place.split_named = number;
      board.ring_all();
    }
    const auto awaits = [&](int rank) {
      return rank == first && maker.split_named < number;
    };
    own.wait_in_call([&] { return !awaits(first); }, awaits);
    part.id = maker.child;
  }
  place.split_finished = number;
  board.ring_all();
  return part;
}

} // namespace

void begin_init(
    ncclComm_t* comm,
    int ranks,
    const ncclUniqueId& id,
    int rank,
    const ncclConfig_t* config) {
  require(comm != nullptr, ncclInvalidArgument, "newcomm argument is NULL");
  const bool blocking = blocks(config, true);
  require(
      ranks > 0 && rank >= 0 && rank < ranks,
      ncclInvalidArgument,
      "Invalid rank requested : " + std::to_string(rank) + "/" +
          std::to_string(ranks));
  const auto communicator =
      std::make_shared<Communicator>(current_device(), blocking);
  *comm = publish(communicator);
  add_job(communicator, communicator, comm, [=] {
    communicator->join(id, ranks, rank);
  });
}

void begin_split(
    ncclComm_t comm,
    int color,
    int key,
    ncclComm_t* child,
    const ncclConfig_t* config) {
  require(child != nullptr, ncclInvalidArgument, "newcomm argument is NULL");
  *child = nullptr;
  const auto parent = find(comm);
  parent->require_ready();
  require(
      color >= NCCL_SPLIT_NOCOLOR,
      ncclInvalidArgument,
      "Invalid color " + std::to_string(color) +
          "; it has to be 0 or more, or NCCL_SPLIT_NOCOLOR");
  const bool blocking = blocks(config, parent->blocking());
  std::shared_ptr<Communicator> made;
  if (color != NCCL_SPLIT_NOCOLOR) {
    made = std::make_shared<Communicator>(parent->device(), blocking);
    *child = publish(made);
  }
  if (!parent->blocking()) {
    parent->set_state(ncclInProgress);
  }
  add_job(parent, made, child, [parent, made, color, key] {
    const Part part = divide(*parent, color, key);
    if (made != nullptr) {
      made->join(part.id, part.ranks, part.rank);
    }
  });
}

} // namespace accelerator::nccl
