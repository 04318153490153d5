// Kernels: a launch is a callback of its stream, a thread of a block a context
// of its own that gives way at __syncthreads().
#include <ucontext.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "adapter/testing/stand_in/runtime/runtime.h"
#include "device/host_streams/host_streams.h"
#include "stand_kernels.h"

__thread uint3 threadIdx;
__thread uint3 blockIdx;
__thread uint3 blockDim;
__thread uint3 gridDim;

namespace {

using stand::kMostThreads;
constexpr size_t kStack = 128 << 10;

struct Launch {
  Launch(const dim3& grid, const dim3& block, void (*run)(void*))
      : grid(grid), block(block), run(run) {}

  dim3 grid;
  dim3 block;
  void (*run)(void*);
  std::unique_ptr<void, void (*)(void*)> data{nullptr, nullptr};
};

// The block that this thread of the host runs.
class Block {
 public:
  Block(const Launch& launch, bool& failed)
      : launch_(launch), failed_(failed) {}

  static Block*& current() {
    static thread_local Block* block = nullptr;
    return block;
  }

  void run() {
    current() = this;
    std::vector<std::unique_ptr<Thread>> waiting, idle;
    const dim3& size = launch_.block;
    for (unsigned z = 0; z < size.z; ++z) {
      for (unsigned y = 0; y < size.y; ++y) {
        for (unsigned x = 0; x < size.x; ++x) {
          auto thread = take(idle);
          start(*thread, {x, y, z});
          (thread->ended ? idle : waiting).push_back(std::move(thread));
        }
      }
    }
    while (!waiting.empty()) {
      std::vector<std::unique_ptr<Thread>> left;
      for (auto& thread : waiting) {
        resume(*thread);
        (thread->ended ? idle : left).push_back(std::move(thread));
      }
      waiting = std::move(left);
    }
    current() = nullptr;
  }

  void give_way() {
    swapcontext(&running_->context, &scheduler_);
  }

 private:
  struct Thread {
    ucontext_t context;
    uint3 index;
    bool ended;
    std::unique_ptr<char[]> stack{new char[kStack]};
  };

  static std::unique_ptr<Thread> take(
      std::vector<std::unique_ptr<Thread>>& idle) {
    if (idle.empty()) {
      return std::make_unique<Thread>();
    }
    auto thread = std::move(idle.back());
    idle.pop_back();
    return thread;
  }

  void start(Thread& thread, uint3 index) {
    thread.index = index;
    thread.ended = false;
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = kStack;
    thread.context.uc_link = &scheduler_;
    makecontext(&thread.context, &Block::body, 0);
    resume(thread);
  }

  void resume(Thread& thread) {
    running_ = &thread;
    threadIdx = thread.index;
    swapcontext(&scheduler_, &thread.context);
  }

  static void body() {
    auto& block = *current();
    auto& thread = *block.running_;
    // Nobody is above a thread's stack to catch what it throws.
    try {
      block.launch_.run(block.launch_.data.get());
    } catch (const std::exception& error) {
      block.fail(error.what());
    } catch (...) {
      block.fail("an exception of no known type");
    }
    thread.ended = true;
  }

  // The program learns of it from the device's state, as with assert() in a
  // kernel of CUDA's, which prints as well.
  void fail(const char* why) {
    std::fprintf(stderr, "stand-in: error in a kernel: %s\n", why);
    failed_ = true;
  }

  const Launch& launch_;
  bool& failed_;
  ucontext_t scheduler_;
  Thread* running_ = nullptr;
};

// Whether no thread failed; after one no further block runs.
bool run_all(const Launch& launch) {
  const auto sizes = [](const dim3& size) {
    return uint3{size.x, size.y, size.z};
  };
  gridDim = sizes(launch.grid);
  blockDim = sizes(launch.block);
  bool failed = false;
  for (unsigned z = 0; z < launch.grid.z; ++z) {
    for (unsigned y = 0; y < launch.grid.y; ++y) {
      for (unsigned x = 0; x < launch.grid.x; ++x) {
        blockIdx = {x, y, z};
        Block(launch, failed).run();
        if (failed) {
          return false;
        }
      }
    }
  }
  return true;
}

void put_launch(
    const std::shared_ptr<Launch>& launch,
    const standStream_st& on) {
  struct Held {
    std::shared_ptr<Launch> launch;
    int device;
  };
  auto held = std::make_unique<Held>(Held{launch, on.device});
  stand::check(stand::Runtime::get().api().stream_callback(
      on.stream,
      [](void* data) {
        const std::unique_ptr<Held> held(static_cast<Held*>(data));
        auto& runtime = stand::Runtime::get();
        // Callbacks are called on a device at fault, too.
        const auto number = runtime.number(held->device);
        if (runtime.api().device_status(number) == ACCEL_OK &&
            !run_all(*held->launch)) {
          host_device_fail(number, ACCEL_ASSERT);
        }
      },
      held.get()));
  (void)held.release();
}

} // namespace

void __syncthreads() {
  if (auto* block = Block::current()) {
    block->give_way();
  }
}

standError_t standLaunchKernel(
    const dim3* grid,
    const dim3* block,
    size_t shared,
    standStream_t stream,
    void (*run)(void* data),
    void (*destroy)(void* data),
    void* data) {
  std::unique_ptr<void, void (*)(void*)> owned(data, destroy);
  return stand::answer([&] {
    using stand::need;
    auto& runtime = stand::Runtime::get();
    auto& on = runtime.stream(stream);
    const uint64_t threads = uint64_t(block->x) * block->y * block->z;
    need(
        grid->x && grid->y && grid->z && threads,
        standErrorInvalidConfiguration,
        "a launch without a thread");
    constexpr uint64_t kMost = kMostThreads;
    need(
        block->x <= kMost && block->y <= kMost && block->z <= kMost &&
            threads <= kMost,
        standErrorInvalidConfiguration,
        "a block has at most 1024 threads");
    need(
        shared == 0,
        standErrorNotSupported,
        "the stand-in has no dynamic shared memory");
    need(
        runtime.host_sees(on.device),
        standErrorNotSupported,
        "kernels are functions of the host, which does not see this device's "
        "memory (hidden=1 in TORCH_STAND_IN_DEVICE)");
    auto launch = std::make_shared<Launch>(*grid, *block, run);
    launch->data = std::move(owned);
    stand::put(on, [launch](standStream_st& on) { put_launch(launch, on); });
  });
}
