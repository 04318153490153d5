// The simulated machine: its devices, and the memory that they share.
#pragma once

#include <array>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>

#include "cudasim/backend/machine/device.h"
#include "cudasim/backend/machine/settings.h"
#include "cudasim/backend/memory/address_map.h"
#include "cudasim/backend/memory/written.h"
#include "cudasim/engine/check/findings.h"
#include "cudasim/engine/counts/instruction_counts.h"

namespace cudasim::backend {

class Machine {
 public:
  /// @throws std::invalid_argument: the file of counts cannot be written.
  explicit Machine(Settings settings);

  const Settings& settings() const {
    return settings_;
  }
  int device_count() const {
    return settings_.devices;
  }
  /// Made when it is first asked for.
  /// @throws Error: ACCEL_NO_DEVICE.
  Device& device(int ordinal);
  /// Throws an Error with ACCEL_NO_DEVICE unless there is such a device.
  void require_device(int ordinal) const;
  AddressMap& addresses() {
    return addresses_;
  }
  /// Where launches count what they execute; null without CUDASIM_COUNT.
  engine::InstructionCounts* counts() {
    return settings_.count_file.empty() ? nullptr : &counts_;
  }
  /// Where launches note what CUDASIM_CHECK finds; null without it.
  engine::Findings* findings() {
    return settings_.check ? &findings_ : nullptr;
  }
  /// Which reads of memory that nobody has written were reported; null without
  /// CUDASIM_CHECK.
  WrittenCheck* written_check() {
    return settings_.check ? &written_check_ : nullptr;
  }
  /// Drops what waits in streams; what runs gets a moment to end. Writes the
  /// file of counts, if there is to be one, and how often what was found.
  void stop();

 private:
  void write_counts();
  void report_totals() const;

  static constexpr std::size_t kMostDevices = 16;

  Settings settings_;
  AddressMap addresses_;
  WrittenCheck written_check_{addresses_};
  engine::InstructionCounts counts_;
  engine::Findings findings_;
  std::string count_file_; // its name
  std::ofstream count_stream_;
  std::mutex mutex_;
  std::array<std::unique_ptr<Device>, kMostDevices> devices_;
  std::array<std::atomic<Device*>, kMostDevices> made_{};
};

/// The machine of this process.
/// @throws Error before initialize().
Machine& machine();

/// Makes it.
/// @throws Error when there is one, std::invalid_argument for wrong settings.
void make_machine(const std::string& options);

} // namespace cudasim::backend
