// What NVML says of other processes: this one only looks at them. The device is
// one that no other test has: processes of the machine meet.
#include <gtest/gtest.h>
#include <nvml.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tools/cc/eventually.h"

#undef nvmlDeviceGetComputeRunningProcesses

namespace {

// CUDA_VISIBLE_DEVICES shows it to the processes (BUILD.bazel).
constexpr unsigned kDevice = 13;
constexpr unsigned long long kBytes = 5 << 20;

/// A process that runs until the end of a test.
class Process {
 public:
  explicit Process(const std::string& words = "") {
    const std::string command = std::string(std::getenv("USES_DEVICE")) + " " +
        std::to_string(kBytes) + " " + words;
    pipe_ = popen(("exec " + command).c_str(), "r");
    EXPECT_EQ(std::fscanf(pipe_, "%d %d", &id_, &child_), 2) << command;
  }
  ~Process() {
    end();
    if (child_ > 0) {
      kill(child_, SIGKILL);
    }
  }
  void end() {
    if (pipe_ != nullptr) {
      kill(id_, SIGKILL);
      pclose(pipe_);
      pipe_ = nullptr;
    }
  }
  unsigned id() const {
    return static_cast<unsigned>(id_);
  }
  unsigned child() const {
    return static_cast<unsigned>(child_);
  }
  void send(int signal) const {
    ASSERT_EQ(kill(id_, signal), 0);
  }

 private:
  std::FILE* pipe_ = nullptr;
  int id_ = 0;
  int child_ = -1;
};

class NvmlProcesses : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(nvmlInit(), NVML_SUCCESS);
    ASSERT_EQ(nvmlDeviceGetHandleByIndex(kDevice, &device), NVML_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
  }

  std::vector<nvmlProcessInfo_t> listed() const {
    std::vector<nvmlProcessInfo_t> all(8);
    auto count = static_cast<unsigned>(all.size());
    EXPECT_EQ(
        nvmlDeviceGetComputeRunningProcesses_v3(device, &count, all.data()),
        NVML_SUCCESS);
    all.resize(count);
    return all;
  }
  bool lists(unsigned id) const {
    const auto all = listed();
    return std::any_of(
        all.begin(), all.end(), [&](const auto& one) { return one.pid == id; });
  }
  unsigned utilization() const {
    nvmlUtilization_t rates{9, 9};
    EXPECT_EQ(nvmlDeviceGetUtilizationRates(device, &rates), NVML_SUCCESS);
    return rates.gpu;
  }
  unsigned long long used() const {
    nvmlMemory_t memory{};
    EXPECT_EQ(nvmlDeviceGetMemoryInfo(device, &memory), NVML_SUCCESS);
    EXPECT_EQ(memory.total, memory.used + memory.free);
    return memory.used;
  }

  nvmlDevice_t device = nullptr;
};

TEST_F(NvmlProcesses, AProcessIsListedWithItsMemoryUntilItEnds) {
  EXPECT_TRUE(tools::eventually([&] { return listed().empty(); }));
  EXPECT_EQ(used(), 0u);
  Process one;
  Process other("context");
  EXPECT_TRUE(
      tools::eventually([&] { return lists(one.id()) && lists(other.id()); }));
  EXPECT_EQ(listed().size(), 2u);
  for (const auto& process : listed()) {
    EXPECT_EQ(process.usedGpuMemory, kBytes);
    EXPECT_EQ(process.gpuInstanceId, ~0u); // "set to 0xFFFFFFFF otherwise"
    char name[200] = "";
    EXPECT_EQ(
        nvmlSystemGetProcessName(process.pid, name, sizeof(name)),
        NVML_SUCCESS);
    EXPECT_EQ(std::string(name), std::getenv("USES_DEVICE"));
  }
  EXPECT_EQ(used(), 2 * kBytes);
  other.end();
  EXPECT_TRUE(tools::eventually([&] { return !lists(other.id()); }));
  EXPECT_TRUE(lists(one.id()));
  EXPECT_EQ(used(), kBytes);
}

TEST_F(NvmlProcesses, AForkedChildUsesNothing) {
  Process process("forked");
  EXPECT_TRUE(tools::eventually([&] { return lists(process.id()); }));
  EXPECT_FALSE(lists(process.child()));
  // The child has what the other showed, which is no more.
  process.end();
  EXPECT_TRUE(tools::eventually([&] { return !lists(process.id()); }));
  EXPECT_EQ(kill(static_cast<int>(process.child()), 0), 0);
  EXPECT_FALSE(lists(process.child()));
  EXPECT_EQ(used(), 0u);
}

TEST_F(NvmlProcesses, ADeviceIsBusyThatAnotherProcessHasWorkOn) {
  Process idle;
  EXPECT_TRUE(tools::eventually([&] { return lists(idle.id()); }));
  EXPECT_EQ(utilization(), 0u);
  Process busy("busy");
  EXPECT_TRUE(tools::eventually([&] { return utilization() == 100; }));
  // Nothing runs in a process that is stopped.
  busy.send(SIGSTOP);
  EXPECT_TRUE(tools::eventually([&] { return utilization() == 0; }));
  EXPECT_TRUE(lists(busy.id()));
  busy.send(SIGCONT);
  EXPECT_TRUE(tools::eventually([&] { return utilization() == 100; }));
  nvmlProcessUtilizationSample_t samples[4];
  unsigned count = 4;
  ASSERT_EQ(
      nvmlDeviceGetProcessUtilization(device, samples, &count, 0),
      NVML_SUCCESS);
  ASSERT_EQ(count, 2u);
  for (const auto& sample : {samples[0], samples[1]}) {
    EXPECT_EQ(sample.smUtil, sample.pid == busy.id() ? 100u : 0u);
  }
}

extern "C" nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(
    nvmlDevice_t,
    unsigned*,
    nvmlProcessInfo_v1_t*);

// "*infoCount will be set to the number", as what is too small.
TEST_F(NvmlProcesses, AListThatIsTooShortIsRefusedWithItsLength) {
  EXPECT_TRUE(tools::eventually([&] { return listed().empty(); }));
  unsigned count = 0;
  EXPECT_EQ(
      nvmlDeviceGetComputeRunningProcesses_v3(device, &count, nullptr),
      NVML_SUCCESS);
  EXPECT_EQ(
      nvmlDeviceGetProcessUtilization(device, nullptr, &count, 0),
      NVML_ERROR_NOT_FOUND);
  Process process;
  EXPECT_TRUE(tools::eventually([&] { return lists(process.id()); }));
  EXPECT_EQ(
      nvmlDeviceGetComputeRunningProcesses_v3(device, &count, nullptr),
      NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(count, 1u);
  // Programs of CUDA 10, whose structure is the shorter one.
  nvmlProcessInfo_v1_t earlier[2] = {{7, 7}, {7, 7}};
  count = 2;
  EXPECT_EQ(
      nvmlDeviceGetComputeRunningProcesses(device, &count, earlier),
      NVML_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(earlier[0].pid, process.id());
  EXPECT_EQ(earlier[0].usedGpuMemory, kBytes);
  EXPECT_EQ(earlier[1].pid, 7u);
}

TEST_F(NvmlProcesses, AProcessThatIsNoneHasNoName) {
  char name[64];
  EXPECT_EQ(
      nvmlSystemGetProcessName(0x3fffffff, name, sizeof(name)),
      NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(
      nvmlSystemGetProcessName(1, nullptr, 5), NVML_ERROR_INVALID_ARGUMENT);
}

} // namespace
