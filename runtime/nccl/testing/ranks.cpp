#include "runtime/nccl/testing/ranks.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace accelerator::nccl::testing {
namespace {

constexpr auto kDeadline = std::chrono::seconds(30);
const char* const kDevices = "4"; // one for each rank

/// Expectations of this test that have failed.
int failures() {
  const auto* result =
      ::testing::UnitTest::GetInstance()->current_test_info()->result();
  int count = 0;
  for (int i = 0; i < result->total_part_count(); ++i) {
    count += result->GetTestPartResult(i).failed() ? 1 : 0;
  }
  return count;
}

void run_rank(int rank, int ranks, const ncclUniqueId& id, const Body& body) {
  Rank own;
  own.rank = rank;
  own.ranks = ranks;
  ASSERT_CUDA(cudaSetDevice(rank));
  ASSERT_CUDA(cudaStreamCreateWithFlags(&own.stream, cudaStreamNonBlocking));
  ASSERT_NCCL(ncclCommInitRank(&own.comm, ranks, id, rank));
  body(own);
  if (own.comm != nullptr) {
    EXPECT_NCCL(ncclCommDestroy(own.comm));
  }
  EXPECT_CUDA(cudaStreamDestroy(own.stream));
}

} // namespace

int count(const Layout& layout) {
  return std::accumulate(layout.begin(), layout.end(), 0);
}

std::string name_of(const Layout& layout) {
  std::string name;
  for (const int threads : layout) {
    name += (name.empty() ? "" : "x") + std::to_string(threads);
  }
  return name;
}

void run_bare(const Layout& layout, const BareBody& body) {
  ncclUniqueId id;
  ASSERT_NCCL(ncclGetUniqueId(&id));
  Processes processes;
  int first = 0;
  for (const int ranks : layout) {
    processes.start([&] {
      std::vector<std::thread> threads;
      for (int rank = first; rank < first + ranks; ++rank) {
        threads.emplace_back([&, rank] { body(rank, id); });
      }
      for (std::thread& thread : threads) {
        thread.join();
      }
    });
    first += ranks;
  }
  processes.expect_success();
}

void run(const Layout& layout, const Body& body) {
  const int ranks = count(layout);
  run_bare(layout, [&](int rank, const ncclUniqueId& id) {
    run_rank(rank, ranks, id, body);
  });
}

Processes::~Processes() {
  while (!processes_.empty()) {
    kill(processes_.back());
  }
}

pid_t Processes::start(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    setenv("CUDASIM_DEVICES", kDevices, 1);
    setenv("TORCH_CUDA_TIMEOUT", "20", 0);
    const int before = failures(); // of the parent, so far
    body();
    std::fflush(nullptr);
    _exit(failures() > before ? 1 : 0);
  }
  processes_.push_back(child);
  return child;
}

void Processes::expect_success() {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (!processes_.empty()) {
    const pid_t child = processes_.back();
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    ASSERT_NE(ended, -1);
    if (ended == child) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
          << "process " << child << ", the " << processes_.size()
          << "th, ended with status " << status;
      processes_.pop_back();
    } else if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << processes_.size() << " processes hang";
      return;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

void Processes::kill(pid_t process) {
  processes_.erase(
      std::remove(processes_.begin(), processes_.end(), process),
      processes_.end());
  ::kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
}

unsigned from_environment(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr
      ? otherwise
      : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

} // namespace accelerator::nccl::testing
