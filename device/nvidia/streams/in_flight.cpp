#include "device/nvidia/streams/in_flight.h"

#include <algorithm>
#include <atomic>

#include "device/nvidia/driver/driver.h"

namespace accelerator::nvidia {
namespace {

std::atomic<unsigned> most{0};

} // namespace

void set_most_in_flight(unsigned pieces) {
  most = pieces;
}

void InFlight::clear() {
  forget();
  for (CUevent event : unused_) {
    driver().cuEventDestroy(event);
  }
  unused_.clear();
}

bool InFlight::has_room() {
  if (given_ - done_ < most) {
    return true;
  }
  while (!marks_.empty()) {
    const CUresult result = driver().cuEventQuery(marks_.front().event);
    if (result == CUDA_ERROR_NOT_READY) {
      return given_ - done_ < most;
    }
    if (result != CUDA_SUCCESS) {
      break;
    }
    done_ = marks_.front().given;
    unused_.push_back(marks_.front().event);
    marks_.pop_front();
  }
  if (given_ - done_ >= most) {
    forget();
  }
  return true;
}

void InFlight::forget() {
  for (const Marked& one : marks_) {
    unused_.push_back(one.event);
  }
  marks_.clear();
  done_ = marked_ = given_;
}

void InFlight::mark(CUstream stream) {
  if (given_ - marked_ < std::max(most / 4, 1U)) {
    return;
  }
  CUevent event = nullptr;
  if (!unused_.empty()) {
    event = unused_.back();
    unused_.pop_back();
  } else if (
      driver().cuEventCreate(
          &event, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC) !=
      CUDA_SUCCESS) {
    return;
  }
  if (driver().cuEventRecord(event, stream) != CUDA_SUCCESS) {
    unused_.push_back(event);
    return;
  }
  marks_.push_back({event, given_});
  marked_ = given_;
}

} // namespace accelerator::nvidia
