#include "device/nvidia/devices/late_work.h"

#include <chrono>
#include <exception>
#include <utility>

#include "device/nvidia/devices/host_work.h"

namespace accelerator::nvidia {
namespace {

constexpr auto kMoment = std::chrono::milliseconds(20);

} // namespace

struct LateWork::Piece {
  std::function<void()> function;
  std::uint64_t bytes;
  std::exception_ptr failure;
  bool done = false;
};

void LateWork::run(std::function<void()> function, std::uint64_t bytes) {
  auto piece = std::make_shared<Piece>();
  piece->function = std::move(function);
  piece->bytes = bytes;
  std::unique_lock lock(mutex_);
  pieces_.push_back(piece);
  bytes_ += bytes;
  if (pieces_.size() > 1) {
    return; // the device is busy
  }
  run_beside([this] { work(); });
  if (done_.wait_for(lock, kMoment, [&] { return piece->done; }) &&
      piece->failure != nullptr) {
    std::rethrow_exception(piece->failure);
  }
}

void LateWork::work() {
  std::unique_lock lock(mutex_);
  while (!pieces_.empty()) {
    const auto piece = pieces_.front();
    lock.unlock();
    try {
      piece->function();
    } catch (...) {
      piece->failure = std::current_exception();
    }
    lock.lock();
    piece->done = true;
    bytes_ -= piece->bytes;
    pieces_.pop_front();
    done_.notify_all();
  }
}

void LateWork::wait() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return pieces_.empty(); });
}

std::uint64_t LateWork::bytes() {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

} // namespace accelerator::nvidia
