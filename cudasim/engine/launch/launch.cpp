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

#include "cudasim/engine/check/findings.h"
#include "cudasim/engine/code/alignment.h"
#include "cudasim/engine/code/kernel.h"
#include "cudasim/engine/code/readable_name.h"
#include "cudasim/engine/launch/block_runner.h"
#include "cudasim/engine/launch/float_environment.h"
#include "cudasim/engine/launch/grid.h"
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

/// Blocks are handed out in the order of their index, each to one host thread;
/// a block that does not end within its turn is set aside for the next one, so
/// that blocks may wait for each other.
class GridRun {
 public:
  explicit GridRun(const Launch& launch) : launch_(launch) {
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
    if (launch.cooperative) {
      grid_.workspace = reinterpret_cast<std::uint64_t>(workspace_);
      grid_.workspace_bytes = sizeof(workspace_);
    }
    begin_ = std::chrono::steady_clock::now();
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

  bool late() const {
    const std::chrono::duration<double> passed =
        std::chrono::steady_clock::now() - begin_;
    return launch_.timeout_seconds > 0 &&
        passed.count() > launch_.timeout_seconds;
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
          if (late()) {
            stop(
                FaultKind::kLaunchTimeout,
                "The kernel did not end in " +
                    std::to_string(launch_.timeout_seconds) +
                    " seconds (TORCH_CUDA_TIMEOUT)\n    " +
                    readable_name(grid_.kernel->info.name) + "\n");
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
  Grid grid_;
  /// The size and the barrier of cooperative groups' grid_workspace.
  alignas(kWorkspace) std::byte workspace_[kWorkspace] = {};
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::exception_ptr failure_; // the host has no more memory, for instance
  Outcome outcome_;
  std::optional<LaunchFindings> findings_;
  std::chrono::steady_clock::time_point begin_;
};

} // namespace

Outcome run(const Launch& launch) {
  return GridRun(launch).run();
}

} // namespace cudasim::engine
