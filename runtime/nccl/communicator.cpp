#include "runtime/nccl/communicator.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

#include <sched.h>

#include "runtime/core/machine/machine.h"
#include "runtime/nccl/describe.h"
#include "runtime/nccl/error.h"
#include "runtime/nccl/memory.h"

namespace accelerator::nccl {
namespace {

using Clock = std::chrono::steady_clock;

// How long a wait looks before it sleeps: two ranks that are in step meet
// without the kernel.
constexpr auto kGlance = std::chrono::microseconds(20);
// How long an abort waits for a rank that does not get on, such as one that is
// stopped, to let go of memory.
constexpr auto kGrace = std::chrono::seconds(5);
// How long memory may be out of reach before its rank is seen to have ended: a
// process that is killed gives it up first.
constexpr auto kDying = std::chrono::seconds(2);
// How long a rank may have ended before an operation that waits for it fails.
// NVIDIA's hears of it from closed connections, not at once: a program whose
// ranks end one after another, with work left, ends before.
constexpr auto kNotice = std::chrono::seconds(2);
// How long all ranks wait until they are told to wait for each other.
constexpr double kStandstill = 2; // seconds
// How often a wait looks whether ranks have ended.
constexpr auto kPatience = std::chrono::milliseconds(50);

// TORCH_CUDA_TIMEOUT, as the machine reads it
// (runtime/core/machine/settings.h).
double timeout_seconds() {
  return runtime::machine().settings().timeout_seconds;
}

// Handles that a program has.
std::mutex handles_mutex;
std::map<ncclComm_t, std::unique_ptr<ncclComm>>& handles() {
  static auto* map = new std::map<ncclComm_t, std::unique_ptr<ncclComm>>;
  return *map;
}

// While it lives, a rank is seen to wait.
class Waiting {
 public:
  explicit Waiting(Place& place) : place_(place) {
    ++place_.waits;
  }
  ~Waiting() {
    ++place_.waits;
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  Place& place_;
};

// Whether all ranks have been waiting since it was last asked, and how often
// they had waited before.
bool all_wait(const Board& board, std::vector<std::uint64_t>* waits) {
  std::vector<std::uint64_t> now;
  for (int rank = 0; rank < board.ranks(); ++rank) {
    now.push_back(board.place(rank).waits);
  }
  const bool waiting = std::all_of(
      now.begin(), now.end(), [](std::uint64_t n) { return n % 2 == 1; });
  const bool still = waiting && now == *waits;
  *waits = std::move(now);
  return still;
}

} // namespace

Communicator::Communicator(int device, bool blocking)
    : device_(device), blocking_(blocking) {}

Communicator::~Communicator() {
  if (background.joinable()) {
    // What lets go of it last may be the background itself.
    background.detach();
  }
  for (const Mark& mark : {last, last_captured}) {
    if (mark.event != nullptr) {
      cudaEventDestroy(mark.event);
    }
  }
}

void Communicator::join(const ncclUniqueId& id, int ranks, int rank) {
  ranks_ = ranks;
  rank_ = rank;
  sent.resize(static_cast<std::size_t>(ranks));
  received.resize(static_cast<std::size_t>(ranks));
  auto board = Board::open(id, ranks_);
  Place& place = board->place(rank_);
  std::uint64_t nobody = 0;
  require(
      place.process.compare_exchange_strong(nobody, this_process()),
      ncclInvalidUsage,
      "rank " + std::to_string(rank_) +
          " has come already; each ncclUniqueId is for one communicator, and "
          "each rank of it for one call");
  check(cudaDeviceGetPCIBusId(place.bus_id, sizeof(place.bus_id), device_));
  {
    const std::lock_guard lock(mutex);
    board_ = std::move(board);
  }
  place.joined = 1;
  board_->ring_all();
  const auto awaits = [this](int rank) {
    return board_->place(rank).joined == 0;
  };
  wait_in_call(
      [&] {
        for (int rank = 0; rank < ranks_; ++rank) {
          if (awaits(rank)) {
            return false;
          }
        }
        return true;
      },
      awaits);
  board_->forget_id();
  for (int rank = 0; rank < ranks_; ++rank) {
    elsewhere_ |= board_->place(rank).process != this_process();
  }
  require_own_device();
}

// As NCCL answers: two ranks on one GPU could wait for each other.
void Communicator::require_own_device() const {
  std::map<std::string, int> ranks;
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::string bus_id = board_->place(rank).bus_id;
    const auto [found, first] = ranks.emplace(bus_id, rank);
    require(
        first,
        ncclInvalidUsage,
        "Duplicate GPU detected : rank " + std::to_string(found->second) +
            " and rank " + std::to_string(rank) + " both on CUDA device " +
            bus_id +
            "; each rank needs a device of its own (TORCH_CUDA_DEVICES=NAME:COUNT "
            "says how many there are, cudaSetDevice chooses)");
  }
}

void Communicator::set_state(ncclResult_t state) {
  ncclResult_t before = state_;
  while ((before == ncclSuccess || before == ncclInProgress) &&
         !state_.compare_exchange_weak(before, state)) {
  }
}

void Communicator::fail(ncclResult_t result, const std::string& message) {
  set_last_error(message);
  {
    const std::lock_guard lock(failure_mutex_);
    if (failure_.empty()) {
      failure_ = message;
    }
  }
  set_state(result);
}

void Communicator::fail_in_operation(const Error& error) {
  const int dead = first_dead();
  if (dead < 0) {
    fail(error.result(), error.what());
  } else {
    const auto end = Clock::now() + kNotice;
    while (!aborted_ && Clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    fail(ncclRemoteError, message_of_death(dead) + " (" + error.what() + ")");
  }
}

void Communicator::await_death() const {
  const auto end = Clock::now() + kDying;
  while (first_dead() < 0 && !aborted_ && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

int Communicator::first_dead() const {
  int rank = 0;
  while (rank < ranks_ && !is_dead(rank)) {
    ++rank;
  }
  return rank < ranks_ ? rank : -1;
}

std::string Communicator::message_of_death(int rank) const {
  return "rank " + std::to_string(rank) + " of " + std::to_string(ranks_) +
      ", which rank " + std::to_string(rank_) +
      " waits for, is not there any more: its process has ended";
}

void Communicator::require_ready() const {
  const ncclResult_t state = state_;
  require(
      !aborted_,
      ncclInvalidUsage,
      revoked_ ? "the communicator has been revoked"
               : "the communicator has been aborted");
  require(
      state != ncclInProgress,
      ncclInvalidArgument,
      "Attempt to use communicator before the previous operation returned "
      "ncclSuccess");
  const std::lock_guard lock(failure_mutex_);
  require(state == ncclSuccess, state, failure_);
}

void Communicator::abort() {
  aborted_ = true;
  std::shared_ptr<Board> board;
  {
    const std::lock_guard lock(mutex);
    board = board_;
  }
  if (board == nullptr) {
    return;
  }
  Place& place = board->place(rank_);
  place.aborted = 1;
  board->ring(rank_);
  const std::lock_guard lock(running); // what ran has ended
  // From now on no rank begins to work on this rank's memory.
  for (int rank = 0; rank < ranks_; ++rank) {
    wait_for_work(rank, [&] { return board->place(rank).working == 0; });
  }
}

void Communicator::wait_for_work(int rank, const std::function<bool()>& ready)
    const {
  const auto end = Clock::now() + kGrace;
  while (!ready() && !is_dead(rank) && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

bool Communicator::is_dead(int rank) const {
  return has_ended(board_->place(rank).process);
}

void Communicator::require_no_dead_rank(
    const std::function<bool(int)>& awaits) const {
  for (int rank = 0; rank < ranks_; ++rank) {
    // It may have come just before it ended, so it is asked for again.
    if (awaits(rank) && is_dead(rank) && awaits(rank)) {
      throw Error(ncclRemoteError, message_of_death(rank));
    }
  }
}

void Communicator::wait_until(
    const std::function<bool()>& ready,
    const std::function<void(double)>& now_and_then) {
  Place& place = own_place();
  const auto begin = Clock::now();
  for (auto now = begin; now < begin + kGlance; now = Clock::now()) {
    if (ready()) {
      return;
    }
    sched_yield();
  }
  auto looked = begin;
  while (true) {
    const std::uint32_t bell = place.bell;
    if (ready()) {
      return;
    }
    if (aborted_) {
      throw Aborted{};
    }
    const auto now = Clock::now();
    if (now >= looked + kPatience) {
      looked = now;
      const std::chrono::duration<double> waited = now - begin;
      now_and_then(waited.count());
    }
    sleep_at(place, bell);
  }
}

void Communicator::wait(
    const std::function<bool()>& ready,
    const std::function<bool(int)>& awaits) {
  if (ready()) {
    return;
  }
  const Waiting waiting(own_place());
  std::vector<std::uint64_t> waits;
  double looked = 0;
  double without_dead = 0; // until when all ranks were there
  wait_until(ready, [&](double waited) {
    if (has_failed()) {
      return;
    }
    try {
      require_no_dead_rank(awaits);
      without_dead = waited;
    } catch (const Error& error) {
      if (waited - without_dead >
          std::chrono::duration<double>(kNotice).count()) {
        fail(error.result(), error.what());
      }
    }
    if (waited > looked + kStandstill) {
      looked = waited;
      if (all_wait(*board_, &waits)) {
        tell_where_ranks_are("all ranks of a communicator wait for others");
      }
    }
  });
}

void Communicator::wait_in_call(
    const std::function<bool()>& ready,
    const std::function<bool(int)>& awaits) {
  wait_until(ready, [&](double waited) {
    require_no_dead_rank(awaits);
    const double most = timeout_seconds();
    require(
        most == 0 || waited < most,
        ncclSystemError,
        "rank " + std::to_string(rank_) + " has waited " +
            std::to_string(static_cast<int>(waited)) +
            " seconds for other ranks (TORCH_CUDA_TIMEOUT)");
  });
}

// Whoever has ended by then is the reason: others may have heard of it, and
// aborted, before this rank came to wait for the one that is gone.
void Communicator::wait_for_abort() {
  wait([] { return false; }, [](int) { return true; });
  throw Aborted{};
}

void Communicator::tell_where_ranks_are(const char* finding) const {
  if (!board_->first_to_tell()) {
    return;
  }
  std::string text = std::string("torch_cuda: NCCL: ") + finding + ":\n";
  for (int rank = 0; rank < ranks_; ++rank) {
    text += "torch_cuda:     rank " + std::to_string(rank) + " is at " +
        describe(board_->place(rank).waiting_at) + "\n";
  }
  text += "torch_cuda:     they wait until the communicator is aborted\n";
  std::fputs(text.c_str(), stderr);
}

ncclComm_t publish(std::shared_ptr<Communicator> communicator) {
  auto handle = std::make_unique<ncclComm>();
  handle->communicator = std::move(communicator);
  const ncclComm_t result = handle.get();
  const std::lock_guard lock(handles_mutex);
  handles()[result] = std::move(handle);
  return result;
}

std::shared_ptr<Communicator> find(ncclComm_t handle) {
  const std::lock_guard lock(handles_mutex);
  const auto found = handles().find(handle);
  require(
      found != handles().end(),
      ncclInvalidArgument,
      handle == nullptr ? "comm argument is NULL"
                        : "comm is not a communicator, or was destroyed");
  return found->second->communicator;
}

std::shared_ptr<Communicator> withdraw(ncclComm_t handle) {
  auto communicator = find(handle);
  const std::lock_guard lock(handles_mutex);
  require(
      handles().erase(handle) != 0,
      ncclInvalidArgument,
      "comm was destroyed at the same time");
  if (handles().empty()) {
    close_reached(0);
  }
  return communicator;
}

DeviceGuard::DeviceGuard(int device) {
  check(cudaGetDevice(&before_));
  check(cudaSetDevice(device));
}

DeviceGuard::~DeviceGuard() {
  cudaSetDevice(before_);
}

} // namespace accelerator::nccl
