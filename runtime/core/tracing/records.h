// What happened, as plain data: calls of the program, work of a device, waits.
// Times are those of Observer::now().
#pragma once

#include <driver_types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

namespace accelerator::runtime::tracing {

class Observer;

/// Which library a call belongs to.
enum class Interface : std::uint8_t { kRuntime, kDriver };

/// A call of the program, from its begin to its return.
struct CallRecord {
  Interface interface = Interface::kRuntime;
  const char* function = ""; // lives as long as the process
  int result = 0;
  std::uint32_t correlation = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t note = 0; // the observer's own, from the begin to the return
};

/// Where work comes from. One without an observer is not reported.
struct Origin {
  Observer* observer = nullptr;
  std::uint32_t correlation = 0; // the call that asked for it
  std::uint64_t stream = 0;
  std::uint32_t graph = 0; // 0: no graph's
  std::uint64_t node = 0;
};

struct KernelPart {
  std::string name;
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  unsigned registers = 0;
  std::size_t static_shared_bytes = 0;
  std::size_t dynamic_shared_bytes = 0;
  std::size_t local_bytes = 0; // of a thread
  bool cooperative = false;
};

/// Where an address lies.
struct Place {
  enum class Kind : std::uint8_t {
    kPageable,
    kPinned,
    kDevice,
    kManaged,
    kArray
  };
  Kind kind = Kind::kPageable;
  int device = 0; // meaningful for memory of a device
};

struct CopyPart {
  cudaMemcpyKind direction = cudaMemcpyDefault;
  Place from;
  Place to;
  std::size_t bytes = 0;
};

struct FillPart {
  Place to;
  std::uint32_t value = 0;
  std::size_t bytes = 0;
};

/// Work that a device has done.
struct WorkRecord {
  Origin origin;
  int device = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::variant<KernelPart, CopyPart, FillPart> part;
};

/// The host, or a stream, waited.
struct WaitRecord {
  enum class Kind : std::uint8_t { kEvent, kStreamForEvent, kStream, kDevice };
  Kind kind = Kind::kDevice;
  int device = 0;
  std::uint64_t stream = 0; // 0: no stream's
  std::uint64_t event = 0; // 0: no event's
  std::uint32_t correlation = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

/// An event was recorded into a stream.
struct EventRecord {
  int device = 0;
  std::uint64_t stream = 0;
  std::uint64_t event = 0;
  std::uint32_t correlation = 0;
  std::uint64_t reached = 0; // by the stream; 0: it was not waited for
};

} // namespace accelerator::runtime::tracing
