#include "cudasim/backend/machine/machine.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cudasim/backend/status/error.h"

namespace cudasim::backend {
namespace {

// Never destroyed: threads of streams use it until the process ends.
std::atomic<Machine*> the_machine{nullptr};

// A name with the process's number in the place of "%p".
std::string with_process_id(std::string name) {
  const std::string number = std::to_string(getpid());
  for (std::size_t at = name.find("%p"); at != std::string::npos;
       at = name.find("%p", at + number.size())) {
    name.replace(at, 2, number);
  }
  return name;
}

} // namespace

Machine::Machine(Settings settings)
    : settings_(std::move(settings)), addresses_(settings_.devices) {
  if (settings_.count_file.empty()) {
    return;
  }
  // At once: whoever runs for an hour learns of a wrong name before.
  count_file_ = with_process_id(settings_.count_file);
  count_stream_.open(count_file_);
  if (!count_stream_) {
    throw std::invalid_argument(
        "CUDASIM_COUNT=" + settings_.count_file + " cannot be written: " +
        std::strerror(errno) + ": name a file in a folder that exists");
  }
}

void Machine::require_device(int ordinal) const {
  if (ordinal < 0 || ordinal >= device_count()) {
    throw Error(
        ACCEL_NO_DEVICE,
        "there is no device " + std::to_string(ordinal) + " among " +
            std::to_string(device_count()));
  }
}

Device& Machine::device(int ordinal) {
  require_device(ordinal);
  const auto index = static_cast<std::size_t>(ordinal);
  Device* made = made_[index].load(std::memory_order_acquire);
  if (made == nullptr) {
    const std::lock_guard lock(mutex_);
    if (devices_[index] == nullptr) {
      devices_[index] =
          std::make_unique<Device>(ordinal, settings_, addresses_);
      made_[index].store(devices_[index].get(), std::memory_order_release);
    }
    made = devices_[index].get();
  }
  return *made;
}

void Machine::stop() {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (const auto& made : made_) {
    const Device* device = made.load();
    if (device == nullptr) {
      continue;
    }
    for (const auto& stream : device->streams()) {
      stream->abandon();
      while (!stream->idle() && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  }
  if (!settings_.count_file.empty()) {
    write_counts();
  }
  report_totals();
}

void Machine::report_totals() const {
  const std::vector<std::string> totals = findings_.totals();
  if (totals.empty()) {
    return;
  }
  std::string text =
      "CUDASIM_CHECK=1 found " + std::to_string(totals.size()) + ":";
  for (const std::string& total : totals) {
    text += "\n  " + total;
  }
  report(text);
}

void Machine::write_counts() {
  counts_.write(count_stream_);
  if (!count_stream_.flush()) {
    report(
        "CUDASIM_COUNT: cannot write " + count_file_ + ": " +
        std::strerror(errno));
  }
}

Machine& machine() {
  Machine* made = the_machine.load(std::memory_order_acquire);
  require(made != nullptr, "initialize has not been called");
  return *made;
}

void make_machine(const std::string& options) {
  require(the_machine == nullptr, "initialize has been called already");
  the_machine = new Machine(read_settings(options));
}

} // namespace cudasim::backend
