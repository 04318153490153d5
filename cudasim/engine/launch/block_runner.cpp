#include "cudasim/engine/launch/block_runner.h"

#include <algorithm>
#include <utility>

#include "cudasim/engine/check/block_checker.h"
#include "cudasim/engine/code/alignment.h"
#include "cudasim/engine/counts/block_counter.h"

namespace cudasim::engine {
namespace {

/// Instructions after which warps of a block change over.
constexpr std::uint64_t kWarpSlice = 1 << 16;
/// The same at the beginning of a block's turn, and where it only spun in its
/// last one: it may be spinning, and then others come first.
constexpr std::uint64_t kFirstSlice = 1 << 13;
constexpr std::uint64_t kSpinningSlice = 1 << 8;

} // namespace

BlockRunner::BlockRunner(const Grid& grid)
    : grid_(grid), native_turns_(*this, warps_, awaited_) {
  const Launch& launch = *grid.launch;
  kernel = grid.kernel;
  size = launch.block;
  local_bytes = grid.local_bytes;
  print = &launch.print;
  memory = launch.device.memory;
  parameters = static_cast<const std::byte*>(launch.parameters);
  parameter_bytes = grid.kernel->info.parameter_bytes;
  kernel_name = grid.kernel->info.name.c_str();
  workspace = grid.own_memory;
  workspace_bytes = grid.own_bytes;
  calling.queue = grid.queue;
  calling.compute_capability = launch.device.compute_capability;
  reserved_shared_ = (grid.shared_bytes + 127) / 128 * 128;
  shared_bytes = grid.kernel->uses_reserved_shared
      ? reserved_shared_ + kReservedShared
      : grid.shared_bytes;
  // Room behind the end, so that a vector access at the end stays inside.
  shared = allocate_aligned(shared_memory_, shared_bytes + 128);
  const std::uint64_t warps = (launch.block.count() + kLanes - 1) / kLanes;
  for (std::uint64_t i = 0; i < warps; ++i) {
    warps_.push_back(std::make_unique<WarpRunner>(*this));
  }
  place_.grid = launch.grid;
  place_.block = launch.block;
  place_.multiprocessors = std::max(1u, launch.device.multiprocessors);
  place_.dynamic_shared =
      static_cast<std::uint32_t>(launch.dynamic_shared_bytes);
  place_.total_shared = static_cast<std::uint32_t>(grid.shared_bytes);
  place_.reserved_shared = static_cast<std::uint32_t>(reserved_shared_);
  place_.grid_workspace = grid.workspace;
  if (grid.findings != nullptr) {
    own_observer_ = std::make_unique<BlockChecker>(
        *this,
        *grid.findings,
        grid.kernel->info.name,
        launch.block.x,
        launch.block.y,
        warps_.size());
  } else if (launch.counts != nullptr) {
    own_observer_ = std::make_unique<BlockCounter>(*launch.counts);
  }
  observer = own_observer_.get();
}

const Place& BlockRunner::place(std::uint32_t warp) {
  place_.warp = warp;
  return place_;
}

void BlockRunner::start(Dim3 block_index) {
  index[0] = block_index.x;
  index[1] = block_index.y;
  index[2] = block_index.z;
  place_.block_index = block_index;
  barriers_ = {};
  awaited_ = 0;
  next_warp_ = 0;
  spins_ = false;
  faulting_ = nullptr;
  calling.last_errors.clear();
  if (observer != nullptr) {
    observer->start();
  }
  const std::uint64_t threads = size.count();
  live_threads_ = static_cast<std::uint32_t>(threads);
  is_fresh_ = native_turns_.can_begin(threads % kLanes == 0);
  if (is_fresh_ && has_started_) {
    return; // they are not looked at before native_turns_ leaves them
  }
  has_started_ = true;
  for (std::uint64_t i = 0; i < warps_.size(); ++i) {
    const std::uint64_t rest = threads - i * kLanes;
    warps_[i]->start(
        static_cast<std::uint32_t>(i),
        rest >= kLanes ? kAllLanes : (1u << rest) - 1,
        warps_.size() == 1);
  }
}

BlockRunner::Status BlockRunner::run(std::uint64_t budget) {
  std::uint64_t slice = spins_ ? kSpinningSlice : kFirstSlice;
  std::optional<NativeTurns::Rest> rest; // that native code left
  if (std::exchange(is_fresh_, false)) {
    rest = native_turns_.run(slice, kWarpSlice, budget);
    if (!rest.has_value()) {
      return Status::kFinished;
    }
    next_warp_ = rest->next;
    slice = rest->slice;
    spins_ = rest->is_first;
    if (rest->is_over) {
      return Status::kBudget;
    }
  }
  const std::uint64_t spent = rest.has_value() ? rest->spent : 0;
  const std::uint64_t limit = instructions() - spent + budget;
  std::size_t idle = 0;
  std::size_t finished = 0;
  std::size_t spinning = 0;
  while (true) {
    if (next_warp_ == 0) {
      finished = 0;
      spinning = 0;
      spins_ = true;
    }
    WarpRunner& warp = *warps_[next_warp_];
    const std::uint64_t before = warp.instructions;
    const bool has_run = rest.has_value() && rest->status.has_value();
    WarpRunner::Status status = begin_turn(warp, rest, slice);
    rest.reset();
    bool spins = false;
    if (status == WarpRunner::Status::kBudget) {
      status = warp.look_for_spinning(&spins);
    }
    spinning += spins ? 1 : 0;
    const bool idles = !has_run && warp.instructions == before;
    spins_ = spins_ && (spins || idles);
    if (status == WarpRunner::Status::kFault) {
      faulting_ = &warp;
      return Status::kFault;
    }
    finished += status == WarpRunner::Status::kFinished ? 1 : 0;
    idle = idles ? idle + 1 : 0;
    next_warp_ = (next_warp_ + 1) % warps_.size();
    if (next_warp_ == 0) {
      if (finished == warps_.size()) {
        return Status::kFinished;
      }
      // What it waits for is not in this block.
      spins_ = spins_ && spinning > 0;
      if (spins_ || instructions() >= limit) {
        return Status::kBudget;
      }
      // Little by little: what went on may have been warps, or lanes, on their
      // way to a barrier, where they wait for those that spin.
      slice = std::min(2 * slice, kWarpSlice);
    }
    if (idle > 2 * warps_.size()) {
      WarpRunner* const going_on = stop_gathering();
      if (going_on == nullptr) {
        faulting_ = warps_[0].get();
        return Status::kHang;
      }
      if (going_on->fault.kind != FaultKind::kNone) {
        faulting_ = going_on;
        return Status::kFault;
      }
      idle = 0;
    }
  }
}

/// @param rest of a turn that has begun; none: it begins.
WarpRunner::Status BlockRunner::begin_turn(
    WarpRunner& warp,
    const std::optional<NativeTurns::Rest>& rest,
    std::uint64_t slice) {
  if (!rest.has_value()) {
    return warp.run(slice);
  }
  return rest->status.has_value() ? *rest->status : warp.run(rest->left);
}

/// Some lanes wait for others of their warp that are at the block's barrier:
/// they go on without them.
/// @returns their warp; null when there are none.
WarpRunner* BlockRunner::stop_gathering() const {
  for (const auto& warp : warps_) {
    if (warp->stop_gathering()) {
      return warp.get();
    }
  }
  return nullptr;
}

void BlockRunner::open_if_complete(std::uint32_t number) {
  Barrier& barrier = barriers_[number];
  const std::uint32_t needed =
      barrier.expected != 0 ? barrier.expected : live_threads_;
  if (barrier.arrived == 0 || barrier.arrived < needed) {
    return;
  }
  const bool reduced = barrier.reduction != BarrierReduction::kNone;
  const std::uint32_t result =
      barrier.reduction == BarrierReduction::kPopulation ? barrier.set
      : barrier.reduction == BarrierReduction::kAnd
      ? static_cast<std::uint32_t>(barrier.set == barrier.threads)
      : static_cast<std::uint32_t>(barrier.set != 0);
  barrier = Barrier{};
  awaited_ &= ~(1u << number);
  if (observer != nullptr) {
    observer->barrier_opened();
  }
  for (const auto& warp : warps_) {
    warp->release(number, reduced, result);
  }
}

void BlockRunner::arrive(
    std::uint32_t number,
    std::uint32_t threads,
    std::uint32_t expected,
    const Control& control,
    Mask contribution,
    Mask active) {
  Barrier& barrier = barriers_[number];
  awaited_ |= 1u << number;
  barrier.arrived += threads;
  barrier.expected = expected;
  if (control.reduction != BarrierReduction::kNone) {
    barrier.reduction = control.reduction;
    barrier.set += lane_count(contribution);
    barrier.threads += lane_count(active);
  }
  open_if_complete(number);
}

void BlockRunner::threads_exited(std::uint32_t threads) {
  live_threads_ -= threads;
  for (std::uint32_t left = awaited_; left != 0; left &= left - 1) {
    const auto number = static_cast<std::uint32_t>(__builtin_ctz(left));
    if (barriers_[number].expected == 0) {
      open_if_complete(number);
    }
  }
}

std::uint64_t BlockRunner::instructions() const {
  std::uint64_t sum = 0;
  for (const auto& warp : warps_) {
    sum += warp->instructions;
  }
  return sum;
}

std::uint64_t BlockRunner::thread_instructions() const {
  std::uint64_t sum = 0;
  for (const auto& warp : warps_) {
    sum += warp->thread_instructions;
  }
  return sum;
}

std::uint64_t BlockRunner::late_releases() const {
  std::uint64_t sum = 0;
  for (const auto& warp : warps_) {
    sum += warp->late_releases;
  }
  return sum;
}

} // namespace cudasim::engine
