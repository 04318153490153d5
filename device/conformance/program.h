// Random programs of allocations, streams, events, copies, fills and callbacks.
//
// Each step is given to the device and, at once, to a model: plain bytes.
// Before a step, what it depends on is ordered in front of it with events and
// waits, as a program has to; which of the ways is taken is random. So the
// device, which works late and beside itself, has to come to what the model
// has.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/conformance/support.h"

namespace accelerator::conformance {

class Program {
 public:
  explicit Program(uint64_t seed);
  ~Program();

  /// Does all steps and compares; what is wrong is said with gtest.
  void run();
  /// The steps so far, a line each.
  std::string text() const;

 private:
  static constexpr int32_t kAnyDevice = -2;
  static constexpr size_t kHost = SIZE_MAX;

  /// How far each stream is known to have come, from the view of somebody.
  using Clock = std::vector<uint64_t>;

  struct StreamState {
    int32_t device = 0;
    std::unique_ptr<Stream> stream; // Null: destroyed.
    uint64_t given = 0;
    Clock clock; // What is done when the next piece of work begins.
  };
  struct EventState {
    int32_t device = 0;
    Event event;
    Clock clock; // What is done once it is reached.
  };
  struct Access {
    size_t stream = 0;
    uint64_t number = 0;
  };
  struct Buffer {
    std::vector<unsigned char> host; // Where it lies, if it is on the host.
    std::unique_ptr<Memory> memory;
    std::vector<unsigned char> model;
    std::vector<Access> writes, reads; // Since the last write; the last write.

    char* data() {
      return memory ? memory->get() : reinterpret_cast<char*>(host.data());
    }
    int32_t device() const {
      return memory ? memory->device() : ACCEL_HOST;
    }
  };
  struct Shift; // A callback's data.

  void step();
  void new_stream();
  void new_event();
  void new_buffer();
  void free_buffer();
  void copy();
  void fill();
  void callback();
  void record();
  void wait();
  void synchronize();
  void check(size_t buffer);

  uint64_t number(uint64_t least, uint64_t most);
  void say(const std::string& line);
  /// A stream of a device, of any for kAnyDevice; made if need be.
  size_t pick_stream(int32_t device = kAnyDevice);
  /// Orders all accesses in front of the stream's next work; kHost: of what the
  /// host does next.
  void order(const std::vector<Access>& accesses, size_t before);
  void order(const Access& access, size_t before);
  /// Notes what the stream's work, which has begun, reads and writes.
  void read_in(Buffer& buffer, size_t stream);
  void write_in(Buffer& buffer, size_t stream);
  void begin_work(size_t stream);
  static void join(Clock& to, const Clock& from);
  static bool knows(const Clock& clock, const Access& access);

  std::mt19937_64 random_;
  int32_t count_; // Devices that it uses.
  std::vector<StreamState> streams_;
  std::vector<EventState> events_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<std::unique_ptr<Shift>> shifts_;
  Clock host_;
  std::vector<std::string> lines_;
};

} // namespace accelerator::conformance
