// How much of a stream's work the driver has: it waits when it is given too
// much.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <vector>

namespace accelerator::nvidia {

/// Counts the calls that put work into a stream of the driver's, with an event
/// in front of every few of them. Used with the stream's mutex and a current
/// context.
class InFlight {
 public:
  /// Destroys its events.
  void clear();

  /// Whether the driver can be given more; asks it only when it seems not so.
  bool has_room();
  /// Something to wait for until there is room; null: there is nothing.
  CUevent oldest() const {
    return marks_.empty() ? nullptr : marks_.front().event;
  }
  /// The device is at fault: nothing is in flight.
  void forget();

  /// Called before work is given to the driver: what is behind the last piece
  /// of work would keep a stream busy that has none.
  void mark(CUstream stream);
  /// Called when it was given.
  void add(unsigned pieces) {
    given_ += pieces;
  }

 private:
  struct Marked {
    CUevent event;
    std::uint64_t given; // in front of it
  };

  std::uint64_t given_ = 0;
  std::uint64_t done_ = 0; // of these, as far as is known
  std::uint64_t marked_ = 0; // in front of the last event
  std::deque<Marked> marks_;
  std::vector<CUevent> unused_;
};

/// How many pieces of work of a stream the driver is given at a time.
void set_most_in_flight(unsigned pieces);

} // namespace accelerator::nvidia
