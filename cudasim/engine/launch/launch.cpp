#include "cudasim/engine/launch/launch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>

#include "cudasim/engine/check/findings.h"
#include "cudasim/engine/code/alignment.h"
#include "cudasim/engine/code/kernel.h"
#include "cudasim/engine/code/readable_name.h"
#include "cudasim/engine/launch/block_runner.h"
#include "cudasim/engine/launch/float_environment.h"
#include "cudasim/engine/launch/grid.h"
#include "cudasim/engine/launch/queued_copy.h"
#include "cudasim/engine/launch/report.h"
#include "cudasim/engine/launch/worker_pool.h"

namespace cudasim::engine {
namespace {

/// Warp instructions until a block that has not ended is set aside, if it does
/// not only spin. Short for cooperative launches, whose blocks wait for each
/// other.
constexpr std::uint64_t kTurn = 1 << 22;
constexpr std::uint64_t kCooperativeTurn = 1 << 14;
/// Blocks that a worker keeps besides the one that it runs.
constexpr std::size_t kMostAside = 256;
/// A lane's local memory for functions that the kernel calls, and for alloca;
/// recursion can be this deep.
constexpr std::uint64_t kCallStack = 16 << 10;

constexpr std::uint64_t kWorkspace = 64;

/// What a launch of the host's and all that its kernels launch share.
class Tree {
 public:
  explicit Tree(double timeout_seconds)
      : timeout_seconds_(timeout_seconds),
        begin_(std::chrono::steady_clock::now()) {}

  bool is_late() const {
    const std::chrono::duration<double> passed =
        std::chrono::steady_clock::now() - begin_;
    return timeout_seconds_ > 0 && passed.count() > timeout_seconds_;
  }
  Outstanding outstanding{0};

 private:
  double timeout_seconds_;
  std::chrono::steady_clock::time_point begin_;
};

std::string late_report(const Launch& launch) {
  return "The kernel did not end in " + std::to_string(launch.timeout_seconds) +
      " seconds (TORCH_CUDA_TIMEOUT)\n    " +
      readable_name(launch.kernel->info.name) + "\n";
}

/// Blocks are handed out in the order of their index, each to one host thread;
/// a block that does not end within its turn is set aside for the next one, so
/// that blocks may wait for each other.
class GridRun {
 public:
  /// @param queue for what the kernel launches; null where it launches nothing.
  GridRun(const Launch& launch, const Tree& tree, GridQueue* queue)
      : launch_(launch), tree_(tree) {
    grid_.launch = &launch;
    grid_.kernel = launch.kernel;
    grid_.shared_bytes = launch.dynamic_shared_bytes == 0
        ? launch.kernel->info.static_shared_bytes
        : launch.kernel->dynamic_shared_offset + launch.dynamic_shared_bytes;
    grid_.local_bytes = launch.kernel->entry->local_bytes;
    if (launch.kernel->has_calls || launch.kernel->allocates) {
      // Frames may be aligned in each lane.
      grid_.local_bytes =
          aligned(grid_.local_bytes, kMostAlignment) + kCallStack;
    }
    if (launch.findings != nullptr) {
      grid_.findings = &findings_.emplace(*launch.findings);
    }
    grid_.queue = queue;
    if (queue != nullptr) {
      grid_.own_memory = queue->buffers().begin();
      grid_.own_bytes = ParameterBuffers::kBytes;
    } else if (launch.cooperative) {
      grid_.own_memory = reinterpret_cast<std::uint64_t>(workspace_);
      grid_.own_bytes = sizeof(workspace_);
    }
    if (launch.cooperative) {
      grid_.workspace = queue != nullptr ? queue->buffers().take(kWorkspace)
                                         : grid_.own_memory;
    }
  }
  GridRun(const GridRun&) = delete;
  GridRun& operator=(const GridRun&) = delete;

  /// @throws what a worker threw.
  Outcome run() {
    const auto workers = static_cast<unsigned>(
        std::min<std::uint64_t>(launch_.workers, launch_.grid.count()));
    run_on_workers(workers, [this] {
      try {
        work();
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex_);
        failure_ = std::current_exception();
        stopped_.store(true, std::memory_order_relaxed);
      }
    });
    if (failure_ != nullptr) {
      std::rethrow_exception(failure_);
    }
    return std::move(outcome_);
  }

 private:
  bool next_block(Dim3* index) {
    const std::uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
    if (number >= launch_.grid.count()) {
      return false;
    }
    index->x = static_cast<std::uint32_t>(number % launch_.grid.x);
    index->y =
        static_cast<std::uint32_t>(number / launch_.grid.x % launch_.grid.y);
    index->z =
        static_cast<std::uint32_t>(number / launch_.grid.x / launch_.grid.y);
    return true;
  }

  void stop(FaultKind kind, const std::string& report) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (outcome_.fault == FaultKind::kNone) {
      outcome_.fault = kind;
      outcome_.report = report;
    }
    stopped_.store(true, std::memory_order_relaxed);
  }

  void work() {
    const DefaultFloatEnvironment environment;
    std::vector<std::unique_ptr<BlockRunner>> spare;
    std::list<std::unique_ptr<BlockRunner>> aside; // costs nothing empty
    const std::uint64_t turn = launch_.cooperative ? kCooperativeTurn : kTurn;
    bool more = true;
    while (!stopped_.load(std::memory_order_relaxed)) {
      std::unique_ptr<BlockRunner> block;
      Dim3 index;
      if (more && (launch_.cooperative || aside.size() < kMostAside)) {
        more = next_block(&index);
        if (more) {
          if (spare.empty()) {
            block = std::make_unique<BlockRunner>(grid_);
          } else {
            block = std::move(spare.back());
            spare.pop_back();
          }
          block->start(index);
        }
      }
      if (block == nullptr) {
        if (aside.empty()) {
          break;
        }
        block = std::move(aside.front());
        aside.pop_front();
      }
      switch (block->run(turn)) {
        case BlockRunner::Status::kFinished:
          spare.push_back(std::move(block));
          break;
        case BlockRunner::Status::kBudget:
          if (tree_.is_late()) {
            stop(FaultKind::kLaunchTimeout, late_report(launch_));
          }
          aside.push_back(std::move(block));
          break;
        case BlockRunner::Status::kFault:
          stop(block->faulting()->fault.kind, fault_report(*block));
          spare.push_back(std::move(block));
          break;
        case BlockRunner::Status::kHang:
          stop(FaultKind::kLaunchTimeout, hang_report(*block));
          spare.push_back(std::move(block));
          break;
      }
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& block : spare) {
      count(*block);
    }
    for (const auto& block : aside) {
      count(*block);
    }
  }

  void count(const BlockRunner& block) {
    outcome_.warp_instructions += block.instructions();
    outcome_.thread_instructions += block.thread_instructions();
    outcome_.late_releases += block.late_releases();
  }

  const Launch& launch_;
  const Tree& tree_;
  Grid grid_;
  /// The size and the barrier of cooperative groups' grid_workspace.
  alignas(kWorkspace) std::byte workspace_[kWorkspace] = {};
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::exception_ptr failure_; // the host has no more memory, for instance
  Outcome outcome_;
  std::optional<LaunchFindings> findings_;
};

/// A launch with all that its kernels launch. A kernel's children run when its
/// blocks have ended, each with its own children first.
class TreeRun {
 public:
  explicit TreeRun(const Launch& launch)
      : launch_(launch), tree_(launch.timeout_seconds) {}

  Outcome run() {
    run_grid(launch_, 0, nullptr);
    while (!levels_.empty() && outcome_.fault == FaultKind::kNone) {
      run_next();
    }
    return std::move(outcome_);
  }

 private:
  /// A grid whose blocks have ended, with work that it has left.
  struct Level {
    std::unique_ptr<GridQueue> queue;
    bool is_outstanding = false; // not the host's
  };

  void run_next() {
    const Queued next = levels_.back().queue->next();
    const unsigned depth = levels_.back().queue->depth();
    // Gone before its last child runs: grids that launch themselves again may
    // do so without end.
    if (levels_.back().queue->is_empty()) {
      tree_.outstanding -= levels_.back().is_outstanding ? 1 : 0;
      levels_.pop_back();
    }
    if (const auto* copy = std::get_if<QueuedCopy>(&next.work)) {
      stop(run_copy(*copy, launch_.device.memory), next.thread);
      tree_.outstanding -= 1;
      return;
    }
    const auto& launched = std::get<QueuedLaunch>(next.work);
    Launch child = launch_;
    child.kernel = launched.kernel;
    child.grid = launched.grid;
    child.block = launched.block;
    child.dynamic_shared_bytes = launched.dynamic_shared_bytes;
    child.parameters = launched.parameters.data();
    child.cooperative = false;
    if (tree_.is_late()) {
      stop({FaultKind::kLaunchTimeout, late_report(child)}, next.thread);
      return;
    }
    run_grid(child, next.is_tail ? depth : depth + 1, &next.thread);
  }

  /// @param thread that has launched it; null: the host.
  void run_grid(
      const Launch& launch,
      unsigned depth,
      const GivingThread* thread) {
    std::unique_ptr<GridQueue> queue;
    if (launch.kernel->launches) {
      if (buffers_ == nullptr) {
        buffers_ = std::make_unique<ParameterBuffers>();
      }
      buffers_->reset();
      queue = std::make_unique<GridQueue>(
          *launch.module,
          depth,
          launch.device.max_shared_bytes,
          tree_.outstanding,
          *buffers_);
    }
    Outcome outcome = GridRun(launch, tree_, queue.get()).run();
    outcome_.warp_instructions += outcome.warp_instructions;
    outcome_.thread_instructions += outcome.thread_instructions;
    outcome_.late_releases += outcome.late_releases;
    if (outcome.fault != FaultKind::kNone) {
      outcome_.fault = outcome.fault;
      outcome_.report = std::move(outcome.report);
      outcome_.report += thread != nullptr ? launched_by(*thread) : "";
    } else if (queue != nullptr && !queue->is_empty()) {
      levels_.push_back({std::move(queue), thread != nullptr});
    } else if (thread != nullptr) {
      tree_.outstanding -= 1;
    }
  }

  void stop(CopyOutcome copy, const GivingThread& thread) {
    if (copy.fault != FaultKind::kNone) {
      outcome_.fault = copy.fault;
      outcome_.report = copy.report + launched_by(thread);
    }
  }

  const Launch& launch_;
  Tree tree_;
  Outcome outcome_;
  std::unique_ptr<ParameterBuffers> buffers_; // null: nothing launches yet
  std::vector<Level> levels_; // a parent below its children
};

} // namespace

Outcome run(const Launch& launch) {
  return TreeRun(launch).run();
}

} // namespace cudasim::engine
