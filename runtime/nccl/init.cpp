#include "runtime/nccl/init.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/machine/machine.h"
#include "runtime/nccl/communicator.h"
#include "runtime/nccl/error.h"
#include "runtime/nccl/group.h"

namespace accelerator::nccl {
namespace {

// The value that NCCL_CONFIG_INITIALIZER has.
constexpr unsigned kConfigMagic = 0xcafebeef;

/// Whether calls wait until they are done. Structures of later versions are
/// longer, and begin as this one does; nothing else of them is used.
bool blocks(const ncclConfig_t* config, bool otherwise) {
  if (config == nullptr) {
    return otherwise;
  }
  require(
      config->size >= offsetof(ncclConfig_t, blocking) + sizeof(int),
      ncclInvalidArgument,
      "ncclConfig_t argument of " + std::to_string(config->size) +
          " bytes is too short");
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

/// A number for the next communicator that these ranks make; they all have the
/// same, and no other ranks have it. FNV-1a.
std::uint64_t next_name(Communicator& own, const std::vector<int>& members) {
  const std::lock_guard lock(own.splitting);
  std::uint64_t name = 0xcbf29ce484222325;
  const auto add = [&](std::uint64_t value) {
    name = (name ^ value) * 0x100000001b3;
  };
  add(++own.descendants[members]);
  for (const int rank : members) {
    add(static_cast<std::uint64_t>(rank) + 1);
  }
  return std::max<std::uint64_t>(name, 1);
}

/// Tells the other ranks the id of a communicator.
void give_name(
    const Communicator& own,
    std::uint64_t name,
    const ncclUniqueId& id) {
  Place& place = own.own_place();
  place.named = id;
  place.named_for = name;
  own.board().ring_all();
}

/// Waits for the id that one of the givers gives, also where the communicator
/// has been aborted.
ncclUniqueId await_name(
    const Communicator& own,
    std::uint64_t name,
    const std::vector<int>& givers) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const double most = runtime::machine().settings().timeout_seconds;
  while (true) {
    const std::uint32_t bell = own.own_place().bell;
    // It may have given the id just before it ended.
    const bool all_dead =
        std::all_of(givers.begin(), givers.end(), [&](int rank) {
          return own.is_dead(rank);
        });
    for (const int rank : givers) {
      const Place& place = own.board().place(rank);
      if (place.named_for == name) {
        return place.named;
      }
    }
    require(
        !all_dead,
        ncclRemoteError,
        "the rank that begins the new communicator is not there any more: its "
        "process has ended");
    const std::chrono::duration<double> waited = Clock::now() - begin;
    require(
        most == 0 || waited.count() < most,
        ncclSystemError,
        "rank " + std::to_string(own.rank()) + " has waited " +
            std::to_string(static_cast<int>(waited.count())) +
            " seconds for a new communicator's id (TORCH_CUDA_TIMEOUT)");
    sleep_at(own.own_place(), bell);
  }
}

/// The ranks but for some.
std::vector<int> ranks_without(
    const Communicator& own,
    const std::vector<int>& excluded) {
  std::vector<int> members;
  for (int rank = 0; rank < own.ranks(); ++rank) {
    if (std::find(excluded.begin(), excluded.end(), rank) == excluded.end()) {
      members.push_back(rank);
    }
  }
  return members;
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

void begin_shrink(
    ncclComm_t comm,
    const std::vector<int>& excluded,
    bool abort,
    ncclComm_t* child,
    const ncclConfig_t* config) {
  require(child != nullptr, ncclInvalidArgument, "newcomm argument is NULL");
  *child = nullptr;
  const auto parent = find(comm);
  require(
      parent->ranks() > 0, // it has been brought up
      ncclInvalidArgument,
      "Attempt to use communicator before the previous operation returned "
      "ncclSuccess");
  if (!abort && !parent->revoked()) {
    parent->require_ready();
  }
  for (const int rank : excluded) {
    require(
        rank >= 0 && rank < parent->ranks(),
        ncclInvalidArgument,
        "Invalid rank to exclude " + std::to_string(rank));
    require(
        rank != parent->rank(),
        ncclInvalidArgument,
        "rank " + std::to_string(rank) +
            " is excluded, and so is not to call ncclCommShrink");
  }
  const bool blocking = blocks(config, parent->blocking());
  const auto made = std::make_shared<Communicator>(parent->device(), blocking);
  *child = publish(made);
  // A communicator that has failed stays so; how it goes is seen at the new one
  // then.
  const bool watched = !abort && !parent->revoked();
  if (watched && !parent->blocking()) {
    parent->set_state(ncclInProgress);
  }
  add_job(watched ? parent : made, made, child, [=] {
    if (abort) {
      parent->abort();
    }
    const std::vector<int> members = ranks_without(*parent, excluded);
    const std::uint64_t name = next_name(*parent, members);
    if (members.front() == parent->rank()) {
      give_name(*parent, name, Board::create());
    }
    const ncclUniqueId id = await_name(*parent, name, {members.front()});
    const auto own = std::find(members.begin(), members.end(), parent->rank());
    made->join(
        id,
        static_cast<int>(members.size()),
        static_cast<int>(own - members.begin()));
  });
}

void begin_grow(
    ncclComm_t comm,
    int ranks,
    const ncclUniqueId* id,
    ncclComm_t* child,
    const ncclConfig_t* config) {
  require(child != nullptr, ncclInvalidArgument, "newcomm argument is NULL");
  *child = nullptr;
  const auto parent = find(comm);
  parent->require_ready();
  require(
      ranks >= parent->ranks(),
      ncclInvalidArgument,
      "ncclCommGrow : " + std::to_string(ranks) + " ranks are fewer than the " +
          std::to_string(parent->ranks()) + " that there are");
  const bool blocking = blocks(config, parent->blocking());
  const auto made = std::make_shared<Communicator>(parent->device(), blocking);
  *child = publish(made);
  if (!parent->blocking()) {
    parent->set_state(ncclInProgress);
  }
  const std::optional<ncclUniqueId> given =
      id == nullptr ? std::nullopt : std::optional(*id);
  add_job(parent, made, child, [=] {
    const std::uint64_t name = next_name(*parent, {});
    if (given.has_value()) {
      give_name(*parent, name, *given);
    }
    made->join(
        await_name(*parent, name, ranks_without(*parent, {})),
        ranks,
        parent->rank());
  });
}

} // namespace accelerator::nccl
