// Random programs of streams, events, copies, fills, functions of the host,
// pools and graphs, in several threads at once, against a model of plain bytes.
//
// They need no kernel, so that they run on any device (fake, with sanitizers).
// What a step touches is ordered behind what touched it before, with an event
// where that was in another stream; so there is one right result.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

constexpr std::size_t kBytes = 3000;
constexpr int kThreads = 3;

using Bytes = std::array<unsigned char, kBytes>;

// A function of the host, as a program's own: it adds to bytes.
struct Addition {
  unsigned char* to;
  std::size_t count;
  unsigned char amount;
};

void add(void* data) {
  const auto& what = *static_cast<Addition*>(data);
  for (std::size_t i = 0; i < what.count; ++i) {
    what.to[i] = static_cast<unsigned char>(what.to[i] + what.amount);
  }
}

// Memory, its model, and the stream that touched it last.
struct Buffer {
  enum class Kind { kDevice, kPool, kPinned } kind;
  int device;
  unsigned char* data = nullptr;
  Bytes model{};
  cudaStream_t last = nullptr;
};

class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed) {
    for (auto& stream : streams_) {
      stream.device = static_cast<int>(below(devices()));
      EXPECT_OK(cudaSetDevice(stream.device));
      EXPECT_OK(cudaStreamCreateWithFlags(
          &stream.handle,
          below(2) == 0 ? cudaStreamDefault : cudaStreamNonBlocking));
    }
    while (buffers_.size() < 6) {
      make_buffer();
    }
  }

  ~Program() {
    for (const auto& stream : streams_) {
      EXPECT_EQ(cudaStreamSynchronize(stream.handle), cudaSuccess);
    }
    for (auto& buffer : buffers_) {
      release(*buffer);
    }
    for (const auto& stream : streams_) {
      EXPECT_EQ(cudaStreamDestroy(stream.handle), cudaSuccess);
    }
  }

  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      switch (below(10)) {
        case 0:
          graph();
          break;
        case 1:
          replace_buffer();
          break;
        case 2:
          compare(*buffers_[below(buffers_.size())]);
          break;
        default: {
          const Step step = make_step(streams_[below(streams_.size())]);
          put(step, streams_[step.stream].handle);
          step.model();
        }
      }
    }
    for (auto& buffer : buffers_) {
      compare(*buffer);
    }
  }

 private:
  struct OwnStream {
    int device = 0;
    cudaStream_t handle = nullptr;
  };
  struct Step {
    std::size_t stream;
    std::vector<Buffer*> touched;
    std::function<void(cudaStream_t)> work;
    std::function<void()> model;
  };

  std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }
  static int devices() {
    int count = 0;
    EXPECT_OK(cudaGetDeviceCount(&count));
    return count;
  }

  void make_buffer() {
    auto buffer = std::make_unique<Buffer>();
    buffer->kind = static_cast<Buffer::Kind>(below(3));
    const OwnStream& stream = streams_[below(streams_.size())];
    buffer->device = stream.device;
    buffer->last = stream.handle;
    EXPECT_OK(cudaSetDevice(stream.device));
    auto** place = reinterpret_cast<void**>(&buffer->data);
    switch (buffer->kind) {
      case Buffer::Kind::kDevice:
        EXPECT_OK(cudaMalloc(place, kBytes));
        break;
      case Buffer::Kind::kPool:
        EXPECT_OK(cudaMallocAsync(place, kBytes, stream.handle));
        break;
      case Buffer::Kind::kPinned:
        EXPECT_OK(cudaMallocHost(place, kBytes));
        break;
    }
    EXPECT_OK(cudaMemsetAsync(buffer->data, 0, kBytes, stream.handle));
    buffers_.push_back(std::move(buffer));
  }

  void release(Buffer& buffer) {
    EXPECT_OK(cudaSetDevice(buffer.device));
    switch (buffer.kind) {
      case Buffer::Kind::kDevice:
        // It waits for the work of its own device only.
        if (device_of(buffer.last) != buffer.device) {
          EXPECT_OK(cudaStreamSynchronize(buffer.last));
        }
        EXPECT_OK(cudaFree(buffer.data));
        break;
      case Buffer::Kind::kPool:
        EXPECT_OK(cudaFreeAsync(buffer.data, buffer.last));
        break;
      case Buffer::Kind::kPinned:
        EXPECT_OK(cudaStreamSynchronize(buffer.last));
        EXPECT_OK(cudaFreeHost(buffer.data));
        break;
    }
  }

  void replace_buffer() {
    const std::size_t index = below(buffers_.size());
    release(*buffers_[index]);
    buffers_.erase(buffers_.begin() + static_cast<std::ptrdiff_t>(index));
    make_buffer();
  }

  // Work that has not been put anywhere yet.
  Step make_step(const OwnStream& stream) {
    Step step;
    step.stream = static_cast<std::size_t>(&stream - streams_.data());
    Buffer& to = *buffers_[below(buffers_.size())];
    const std::size_t begin = below(kBytes), count = 1 + below(kBytes - begin);
    step.touched.push_back(&to);
    // A device fills its own memory and the host's; functions of the host see
    // the host's.
    const bool is_pinned = to.kind == Buffer::Kind::kPinned;
    const bool fills = is_pinned || to.device == stream.device;
    const std::size_t kinds = is_pinned ? 3 : 2;
    switch (fills ? below(kinds) : 1) {
      case 0: {
        const auto value = static_cast<unsigned char>(below(256));
        step.work = [&to, begin, count, value](cudaStream_t where) {
          EXPECT_OK(cudaMemsetAsync(to.data + begin, value, count, where));
        };
        step.model = [&to, begin, count, value] {
          std::memset(to.model.data() + begin, value, count);
        };
        break;
      }
      case 1: {
        Buffer& from = *buffers_[below(buffers_.size())];
        if (&from == &to) {
          return make_step(stream);
        }
        step.touched.push_back(&from);
        step.work = [&to, &from, begin, count](cudaStream_t where) {
          EXPECT_OK(cudaMemcpyAsync(
              to.data + begin,
              from.data + begin,
              count,
              cudaMemcpyDefault,
              where));
        };
        step.model = [&to, &from, begin, count] {
          std::memcpy(
              to.model.data() + begin, from.model.data() + begin, count);
        };
        break;
      }
      default: {
        const auto amount = static_cast<unsigned char>(1 + below(255));
        additions_.push_back(std::make_unique<Addition>(
            Addition{to.data + begin, count, amount}));
        step.work = [what = additions_.back().get()](cudaStream_t where) {
          EXPECT_OK(cudaLaunchHostFunc(where, add, what));
        };
        step.model = [&to, begin, count, amount] {
          Addition in_model{to.model.data() + begin, count, amount};
          add(&in_model);
        };
      }
    }
    return step;
  }

  int device_of(cudaStream_t handle) const {
    for (const auto& stream : streams_) {
      if (stream.handle == handle) {
        return stream.device;
      }
    }
    ADD_FAILURE() << "a stream that there is not";
    return 0;
  }

  void follow(cudaStream_t first, cudaStream_t then) {
    cudaEvent_t event = nullptr;
    // An event is of the device that records it.
    EXPECT_OK(cudaSetDevice(device_of(first)));
    EXPECT_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    EXPECT_OK(cudaEventRecord(event, first));
    EXPECT_OK(cudaStreamWaitEvent(then, event, 0));
    EXPECT_OK(cudaEventDestroy(event));
  }

  void put(const Step& step, cudaStream_t where) {
    for (Buffer* buffer : step.touched) {
      if (buffer->last != where) {
        follow(buffer->last, where);
        buffer->last = where;
      }
    }
    step.work(where);
  }

  // Some steps as a graph, launched none, one or several times.
  void graph() {
    const OwnStream& stream = streams_[below(streams_.size())];
    std::vector<Step> steps;
    for (std::size_t i = 1 + below(5); i > 0; --i) {
      steps.push_back(make_step(stream));
    }
    for (const Step& step : steps) {
      for (Buffer* buffer : step.touched) {
        if (buffer->last != stream.handle) {
          follow(buffer->last, stream.handle);
          buffer->last = stream.handle;
        }
      }
    }
    EXPECT_OK(cudaSetDevice(stream.device));
    EXPECT_OK(cudaStreamBeginCapture(
        stream.handle, cudaStreamCaptureModeThreadLocal));
    for (const Step& step : steps) {
      step.work(stream.handle);
    }
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    EXPECT_OK(cudaStreamEndCapture(stream.handle, &graph));
    EXPECT_OK(cudaGraphInstantiate(&executable, graph, 0));
    EXPECT_OK(cudaGraphDestroy(graph));
    for (std::size_t i = below(4); i > 0; --i) {
      EXPECT_OK(cudaGraphLaunch(executable, stream.handle));
      for (const Step& step : steps) {
        step.model();
      }
    }
    EXPECT_OK(cudaGraphExecDestroy(executable));
  }

  void compare(const Buffer& buffer) {
    Bytes found{};
    EXPECT_OK(cudaMemcpyAsync(
        found.data(), buffer.data, kBytes, cudaMemcpyDefault, buffer.last));
    EXPECT_OK(cudaStreamSynchronize(buffer.last));
    EXPECT_TRUE(found == buffer.model)
        << "kind " << static_cast<int>(buffer.kind) << ", device "
        << buffer.device;
  }

  std::mt19937_64 random_;
  std::array<OwnStream, 3> streams_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<std::unique_ptr<Addition>> additions_;
};

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Programs, InSeveralThreadsComeToWhatTheModelHas) {
  const std::uint64_t programs = number("PROGRAMS", 40);
  const std::uint64_t first = number("SEED", std::random_device()());
  for (std::uint64_t i = 0; i < programs && !HasFailure(); ++i) {
    SCOPED_TRACE("SEED=" + std::to_string(first + i));
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back(
          [seed = (first + i) * kThreads + thread] { Program(seed).run(60); });
    }
    for (auto& thread : threads) {
      thread.join();
    }
  }
}

} // namespace
} // namespace accelerator::cudart::testing
