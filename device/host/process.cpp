#include "device/host/process.h"

#include <fstream>
#include <sstream>
#include <string>

#include <unistd.h>

namespace accelerator::host {
namespace {

// The number takes 22 bits on 64-bit Linux.
constexpr int kStartBits = 42;
constexpr std::uint64_t kStartMask = (std::uint64_t{1} << kStartBits) - 1;

// What /proc says of a process.
struct Entry {
  char state = ' ';
  long threads = 0;
  std::uint64_t start = 0; // clock ticks since the machine started
};

bool read_entry(std::uint64_t process, Entry* entry) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  if (!std::getline(file, text)) {
    return false;
  }
  // The name, in parentheses, may have anything in it.
  std::istringstream rest(text.substr(text.rfind(')') + 1));
  // State is field 3, the number of threads 20, the start 22 (man
  // proc_pid_stat)
  std::string skipped;
  rest >> entry->state;
  for (int field = 4; field < 20; ++field) {
    rest >> skipped;
  }
  rest >> entry->threads >> skipped >> entry->start;
  return !rest.fail();
}

// What stands behind a word in /proc/PID/status.
std::string status_line(std::int32_t process, const std::string& word) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, word.size(), word) == 0) {
      return line.substr(word.size());
    }
  }
  return "";
}

} // namespace

ProcessId this_process() {
  const auto process = static_cast<std::uint64_t>(getpid());
  Entry entry;
  return read_entry(process, &entry)
      ? process << kStartBits | (entry.start & kStartMask)
      : 0;
}

bool is_other_thread(std::int32_t number) {
  const std::string first = status_line(number, "Tgid:");
  return !first.empty() && std::stol(first) != number;
}

std::int32_t own_number(std::int32_t process) {
  std::istringstream numbers(status_line(process, "NSpid:"));
  std::int32_t innermost = 0;
  while (numbers >> innermost) {
  }
  return innermost;
}

bool has_ended(ProcessId process) {
  if (process == 0) {
    return false;
  }
  Entry entry;
  if (!read_entry(process >> kStartBits, &entry)) {
    // Gone, unless /proc cannot be read at all.
    return read_entry(static_cast<std::uint64_t>(getpid()), &entry);
  }
  const bool zombie = entry.state == 'Z' || entry.state == 'X';
  return (entry.start & kStartMask) != (process & kStartMask) ||
      (zombie && entry.threads <= 1);
}

} // namespace accelerator::host
