#include "runtime/core/streams/work/transfer.h"

#include <vector>

#include "runtime/core/machine/device.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/streams/stream.h"

namespace accelerator::runtime {
namespace {

// The device that memory is on; null for the host's.
Device* owner_of(const void* memory) {
  Machine& all = machine();
  const auto piece =
      all.addresses().find(reinterpret_cast<std::uint64_t>(memory));
  return !piece || piece->on_host() ? nullptr : &all.device(piece->device);
}

std::int32_t index_of(const Device* device) {
  return device == nullptr ? ACCEL_HOST : device->slot().index;
}

accel_copy describe(
    const CopyWork& work,
    const Device* to,
    const Device* from) {
  accel_copy copy{};
  copy.struct_size = sizeof(copy);
  copy.to = work.to;
  copy.from = work.from;
  copy.width = work.width;
  copy.height = work.height;
  copy.depth = work.depth;
  copy.to_pitch = work.to_pitch;
  copy.from_pitch = work.from_pitch;
  copy.to_slice = work.to_slice;
  copy.from_slice = work.from_slice;
  copy.to_device = index_of(to);
  copy.from_device = index_of(from);
  return copy;
}

accel_fill describe(const FillWork& work) {
  accel_fill fill{};
  fill.struct_size = sizeof(fill);
  fill.to = work.to;
  fill.value = work.value;
  fill.element_size = work.element_size;
  fill.width = work.width;
  fill.height = work.height;
  fill.depth = work.depth;
  fill.pitch = work.pitch;
  fill.slice = work.slice;
  return fill;
}

// Whether a stream can take work on memory of these devices (null: the host's):
// its library knows them, and its device is one of them.
bool can_take(const Stream& stream, const Device* one, const Device* other) {
  const auto known = [&](const Device* device) {
    return device == nullptr || &device->api() == &stream.api();
  };
  const Device* own = &stream.device();
  return known(one) && known(other) &&
      (one == own || other == own || (one == nullptr && other == nullptr));
}

// A stream of a device for the time of one transfer.
class OwnStream {
 public:
  explicit OwnStream(const Device& device) : api_(device.api()) {
    check(api_, api_.stream_create(device.slot().index, 0, &stream_));
  }
  ~OwnStream() {
    api_.stream_destroy(stream_);
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

  void copy(const accel_copy& work) const {
    check(api_, api_.copy(stream_, &work));
    check(api_, api_.stream_synchronize(stream_));
  }
  void fill(const accel_fill& work) const {
    check(api_, api_.fill(stream_, &work));
    check(api_, api_.stream_synchronize(stream_));
  }

 private:
  const accel_api& api_;
  accel_stream stream_ = nullptr;
};

// A copy that the stream which it is in cannot take. Between two libraries it
// goes through memory of the host, without gaps.
void copy_elsewhere(const CopyWork& work) {
  const Device* to = owner_of(work.to);
  const Device* from = owner_of(work.from);
  if (to == nullptr || from == nullptr || &to->api() == &from->api()) {
    OwnStream(to != nullptr ? *to : *from).copy(describe(work, to, from));
    return;
  }
  std::vector<char> bytes(work.width * work.height * work.depth);
  CopyWork out = work;
  out.to = bytes.data();
  out.to_pitch = work.width;
  out.to_slice = work.width * work.height;
  CopyWork in = work;
  in.from = bytes.data();
  in.from_pitch = out.to_pitch;
  in.from_slice = out.to_slice;
  OwnStream(*from).copy(describe(out, nullptr, from));
  OwnStream(*to).copy(describe(in, to, nullptr));
}

} // namespace

void put_copy(Stream& stream, const CopyWork& work) {
  const Device* to = owner_of(work.to);
  const Device* from = owner_of(work.from);
  if (can_take(stream, to, from)) {
    const accel_copy copy = describe(work, to, from);
    stream.give(
        [&](accel_stream native) { return stream.api().copy(native, &copy); });
    return;
  }
  stream.enqueue([work] {
    copy_elsewhere(work);
    return cudaSuccess;
  });
}

void put_fill(Stream& stream, const FillWork& work) {
  const Device* to = owner_of(work.to);
  const accel_fill fill = describe(work);
  if (can_take(stream, to, to)) {
    stream.give(
        [&](accel_stream native) { return stream.api().fill(native, &fill); });
    return;
  }
  stream.enqueue([fill, to] {
    OwnStream(*to).fill(fill);
    return cudaSuccess;
  });
}

} // namespace accelerator::runtime
