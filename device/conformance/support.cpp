#include "device/conformance/support.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include "device/conformance/watchdog.h"

extern char** environ;

namespace accelerator::conformance {
namespace {

// Exit status of a process whose library does not know an option.
constexpr int kNoSuchOption = 77;
// Its own watchdog comes first (main.cpp).
constexpr auto kLongest = std::chrono::seconds(180);

std::unique_ptr<Library>& opened() {
  static auto* library = new std::unique_ptr<Library>();
  return *library;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The exit status of a process; what takes too long is ended.
int wait_for(pid_t process) {
  const auto deadline = std::chrono::steady_clock::now() + kLongest;
  int status = 0;
  while (waitpid(process, &status, WNOHANG) == 0) {
    still_going();
    if (std::chrono::steady_clock::now() > deadline) {
      kill(process, SIGKILL);
      ADD_FAILURE() << "the test took too long in its own process";
      waitpid(process, &status, 0);
      return status;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return status;
}

} // namespace

Library& library() {
  auto& library = opened();
  if (library)
    return *library;
  const std::string path = variable("ACCEL_LIBRARY");
  if (path.empty()) {
    std::fprintf(
        stderr,
        "which library? none is named; needed is --library=PATH, or "
        "ACCEL_LIBRARY in the environment\n");
    std::_Exit(2);
  }
  try {
    library = std::make_unique<Library>(path);
    library->initialize(variable("ACCEL_OPTIONS"));
    if (library->devices().empty())
      throw LibraryError("device library " + path + " has no device to test");
  } catch (const StatusError& error) {
    const bool extra = std::getenv("ACCEL_OWN_PROCESS") &&
        error.status() == ACCEL_INVALID_ARGUMENT;
    std::fprintf(stderr, "%s\n", error.what());
    std::_Exit(extra ? kNoSuchOption : 2);
  } catch (const LibraryError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::_Exit(2);
  }
  return *library;
}

accel_status close_library() {
  return opened() && opened()->is_initialized() ? opened()->finalize()
                                                : ACCEL_OK;
}

const accel_api& api() {
  return library().api();
}

int32_t devices() {
  return static_cast<int32_t>(library().devices().size());
}

uint64_t free_memory(int32_t device) {
  uint64_t free = 0, total = 0;
  EXPECT_OK(api().memory_info(device, &free, &total));
  return free;
}

testing::AssertionResult is(
    accel_status found,
    accel_status expected,
    const char* call) {
  const bool error = found != ACCEL_OK && found != ACCEL_NOT_READY;
  const char* text = error ? api().last_error() : "";
  if (error && (!text || !*text))
    return testing::AssertionFailure()
        << call << " answers " << name_of(found) << " without a text";
  if (found == expected)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
      << call << " answers " << name_of(found) << " " << text << ", expected "
      << name_of(expected);
}

void expect_text(const std::vector<std::string>& words) {
  const char* text = api().last_error();
  ASSERT_NE(text, nullptr);
  for (const auto& word : words)
    EXPECT_NE(std::strstr(text, word.c_str()), nullptr)
        << "the text does not name " << word << ": " << text;
}

std::string library_path() {
  return variable("ACCEL_LIBRARY");
}

std::string library_options() {
  return variable("ACCEL_OPTIONS");
}

int run_test(
    const std::string& name,
    const std::vector<std::string>& variables) {
  std::vector<std::string> environment = {"ACCEL_OWN_PROCESS=1"};
  environment.insert(environment.end(), variables.begin(), variables.end());
  for (char** at = environ; *at; ++at) {
    // What makes a gtest write reports or run a part of the tests.
    const std::string one = *at;
    bool ours = false;
    for (const char* own : {"GTEST_", "TEST_", "XML_OUTPUT_FILE"})
      ours = ours || one.rfind(own, 0) == 0;
    for (const auto& given : variables)
      ours = ours || one.rfind(given.substr(0, given.find('=') + 1), 0) == 0;
    if (!ours)
      environment.push_back(one);
  }
  std::vector<char*> pointers;
  for (auto& one : environment)
    pointers.push_back(one.data());
  pointers.push_back(nullptr);
  std::string program = "abi", filter = "--gtest_filter=" + name,
              brief = "--gtest_brief=1";
  char* arguments[] = {program.data(), filter.data(), brief.data(), nullptr};
  pid_t process = 0;
  const int error = posix_spawn(
      &process, "/proc/self/exe", nullptr, nullptr, arguments, pointers.data());
  if (error != 0) {
    ADD_FAILURE() << "no process for the test: " << std::strerror(error);
    return -1;
  }
  return wait_for(process);
}

bool is_in_process_with(const std::string& options, bool open) {
  if (std::getenv("ACCEL_OWN_PROCESS")) {
    if (open)
      library();
    return true;
  }
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string all = variable("ACCEL_OPTIONS");
  all += (all.empty() || options.empty() ? "" : ",") + options;
  const int status = run_test(
      std::string(test->test_suite_name()) + "." + test->name(),
      {"ACCEL_OPTIONS=" + all});
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoSuchOption)
    [&] { GTEST_SKIP() << "the library has no options " << options; }();
  else
    EXPECT_EQ(status, 0) << "in a process of its own with " << all;
  return false;
}

std::vector<unsigned char> bytes(uint64_t count, unsigned seed) {
  std::vector<unsigned char> result(count);
  uint32_t state = seed * 2654435761u + 1;
  for (auto& byte : result) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<unsigned char>(state >> 24);
  }
  return result;
}

accel_copy row(
    void* to,
    int32_t to_device,
    const void* from,
    int32_t from_device,
    uint64_t width) {
  accel_copy copy = {};
  copy.struct_size = sizeof copy;
  copy.to = to;
  copy.from = from;
  copy.width = width;
  copy.height = copy.depth = 1;
  copy.to_pitch = copy.from_pitch = copy.to_slice = copy.from_slice = width;
  copy.to_device = to_device;
  copy.from_device = from_device;
  return copy;
}

accel_fill elements(void* to, uint32_t value, uint32_t size, uint64_t width) {
  accel_fill fill = {};
  fill.struct_size = sizeof fill;
  fill.to = to;
  fill.value = value;
  fill.element_size = size;
  fill.width = width;
  fill.height = fill.depth = 1;
  fill.pitch = fill.slice = width * size;
  return fill;
}

void write(
    accel_stream stream,
    const Memory& to,
    const std::vector<unsigned char>& from) {
  const accel_copy copy =
      row(to.get(), to.device(), from.data(), ACCEL_HOST, from.size());
  EXPECT_OK(api().copy(stream, &copy));
  EXPECT_OK(api().stream_synchronize(stream));
}

std::vector<unsigned char> read(accel_stream stream, const Memory& from) {
  std::vector<unsigned char> to(from.bytes());
  const accel_copy copy =
      row(to.data(), ACCEL_HOST, from.get(), from.device(), to.size());
  EXPECT_OK(api().copy(stream, &copy));
  EXPECT_OK(api().stream_synchronize(stream));
  return to;
}

void Gate::close(accel_stream stream) {
  auto* shared = new std::shared_ptr<State>(state_);
  EXPECT_OK(api().stream_callback(
      stream,
      [](void* data) {
        auto* shared = static_cast<std::shared_ptr<State>*>(data);
        const std::shared_ptr<State> state = *shared;
        delete shared;
        std::unique_lock<std::mutex> lock(state->mutex);
        state->reached = true;
        state->changed.notify_all();
        state->changed.wait(lock, [&] { return state->open; });
      },
      shared));
}

void Gate::open() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->open = true;
  state_->changed.notify_all();
}

void Gate::wait_until_reached() {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->reached; });
}

} // namespace accelerator::conformance
