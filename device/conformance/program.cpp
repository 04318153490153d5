#include "device/conformance/program.h"

#include <algorithm>

namespace accelerator::conformance {
namespace {

constexpr size_t kMostStreams = 6;
constexpr size_t kMostBuffers = 8;

} // namespace

struct Program::Shift {
  char* data;
  uint64_t size;
  unsigned char by;

  static void call(void* data) {
    auto* shift = static_cast<Shift*>(data);
    for (uint64_t i = 0; i < shift->size; ++i)
      shift->data[i] = static_cast<char>(shift->data[i] + shift->by);
  }
};

Program::Program(uint64_t seed)
    : random_(seed), count_(std::min(devices(), 3)) {}

Program::~Program() {
  for (int32_t device = 0; device < devices(); ++device)
    EXPECT_OK(api().device_synchronize(device));
}

void Program::run() {
  for (int32_t i = 0; i < count_; ++i)
    new_stream();
  new_buffer();
  new_buffer();
  const uint64_t steps = number(5, 40);
  for (uint64_t i = 0; i < steps && !testing::Test::HasFailure(); ++i)
    step();
  for (size_t i = 0; i < buffers_.size(); ++i)
    check(i);
}

std::string Program::text() const {
  std::string all;
  for (const auto& line : lines_)
    all += "  " + line + "\n";
  return all;
}

void Program::step() {
  switch (number(0, 15)) {
    case 0:
      return new_stream();
    case 1: {
      const size_t stream = pick_stream();
      if (number(0, 2) == 0 && streams_.size() > 1 && streams_[stream].stream) {
        say("destroy stream " + std::to_string(stream));
        streams_[stream].stream.reset();
      }
      return;
    }
    case 2:
      return new_event();
    case 3:
      if (!events_.empty() && number(0, 1) == 0) {
        const size_t event = number(0, events_.size() - 1);
        say("destroy event " + std::to_string(event));
        events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(event));
      }
      return;
    case 4:
      return new_buffer();
    case 5:
      return free_buffer();
    case 6:
    case 7:
    case 8:
      return copy();
    case 9:
    case 10:
      return fill();
    case 11:
      return callback();
    case 12:
      return record();
    case 13:
      return wait();
    case 14:
      return synchronize();
    default:
      return check(number(0, buffers_.size() - 1));
  }
}

void Program::new_stream() {
  if (streams_.size() == kMostStreams)
    return;
  StreamState state;
  // The first ones are one for each device.
  state.device = streams_.size() < static_cast<size_t>(count_)
      ? static_cast<int32_t>(streams_.size())
      : static_cast<int32_t>(number(0, count_ - 1));
  state.stream = std::make_unique<Stream>(
      api(), state.device, static_cast<int32_t>(number(0, 2)) - 1);
  say("stream " + std::to_string(streams_.size()) + " on device " +
      std::to_string(state.device));
  state.clock.resize(kMostStreams);
  host_.resize(kMostStreams);
  streams_.push_back(std::move(state));
}

void Program::new_event() {
  if (events_.size() == 6)
    return;
  const auto device = static_cast<int32_t>(number(0, count_ - 1));
  say("event " + std::to_string(events_.size()) + " on device " +
      std::to_string(device));
  events_.push_back({device, Event(api(), device), Clock(kMostStreams)});
}

void Program::new_buffer() {
  if (buffers_.size() == kMostBuffers)
    return;
  auto buffer = std::make_unique<Buffer>();
  const auto where = static_cast<int32_t>(number(0, uint64_t{2} * count_)) / 2;
  const uint64_t size = number(1, 400);
  buffer->model = bytes(size, static_cast<unsigned>(random_()));
  if (where == count_) {
    buffer->host = buffer->model;
  } else {
    buffer->memory = std::make_unique<Memory>(api(), where, size);
  }
  say("buffer " + std::to_string(buffers_.size()) + " of " +
      std::to_string(size) + " on " + std::to_string(buffer->device()));
  buffers_.push_back(std::move(buffer));
  Buffer& made = *buffers_.back();
  if (!made.memory)
    return;
  // Its first content comes in a stream, as everything does.
  const size_t stream = pick_stream(where);
  const accel_fill fill = elements(made.data(), 17, 1, size);
  begin_work(stream);
  write_in(made, stream);
  EXPECT_OK(api().fill(*streams_[stream].stream, &fill));
  std::fill(made.model.begin(), made.model.end(), 17);
}

void Program::free_buffer() {
  if (buffers_.size() < 3)
    return;
  const size_t index = number(0, buffers_.size() - 1);
  check(index);
  say("free buffer " + std::to_string(index));
  order(buffers_[index]->reads, kHost);
  buffers_.erase(buffers_.begin() + static_cast<std::ptrdiff_t>(index));
}

void Program::copy() {
  const size_t to_index = number(0, buffers_.size() - 1);
  const size_t from_index = number(0, buffers_.size() - 1);
  Buffer& to = *buffers_[to_index];
  Buffer& from = *buffers_[from_index];
  if (to_index == from_index)
    return;
  accel_copy box =
      row(nullptr, to.device(), nullptr, from.device(), number(1, 60));
  box.height = number(1, 3);
  box.depth = number(1, 2);
  box.to_pitch = box.width + number(0, 5);
  box.from_pitch = number(0, 60);
  box.to_slice = box.to_pitch * box.height + number(0, 5);
  box.from_slice = number(0, 60);
  const auto extent = [&](uint64_t pitch, uint64_t slice) {
    return (box.depth - 1) * slice + (box.height - 1) * pitch + box.width;
  };
  if (extent(box.to_pitch, box.to_slice) > to.model.size() ||
      extent(box.from_pitch, box.from_slice) > from.model.size()) {
    box.height = box.depth = 1;
    box.width = number(1, std::min(to.model.size(), from.model.size()));
  }
  const uint64_t at =
      number(0, to.model.size() - extent(box.to_pitch, box.to_slice));
  const uint64_t source =
      number(0, from.model.size() - extent(box.from_pitch, box.from_slice));
  // Of one of the devices that have a part in it.
  int32_t device = number(0, 1) == 0 ? to.device() : from.device();
  if (device == ACCEL_HOST)
    device = std::max(to.device(), from.device());
  const size_t stream = pick_stream(device == ACCEL_HOST ? kAnyDevice : device);
  order(to.writes, stream);
  order(to.reads, stream);
  order(from.writes, stream);
  say("copy " + std::to_string(box.width) + "x" + std::to_string(box.height) +
      "x" + std::to_string(box.depth) + " from buffer " +
      std::to_string(from_index) + " to " + std::to_string(to_index) +
      " in stream " + std::to_string(stream));
  box.to = to.data() + at;
  box.from = from.data() + source;
  begin_work(stream);
  read_in(from, stream);
  write_in(to, stream);
  EXPECT_OK(api().copy(*streams_[stream].stream, &box));
  for (uint64_t z = 0; z < box.depth; ++z)
    for (uint64_t y = 0; y < box.height; ++y)
      std::copy_n(
          from.model.data() + source + z * box.from_slice + y * box.from_pitch,
          box.width,
          to.model.data() + at + z * box.to_slice + y * box.to_pitch);
}

void Program::fill() {
  const size_t index = number(0, buffers_.size() - 1);
  Buffer& to = *buffers_[index];
  if (!to.memory)
    return;
  uint32_t size = 1u << number(0, 2);
  if (to.model.size() < size)
    size = 1;
  const uint64_t count = to.model.size() / size;
  const uint64_t begin = number(0, count - 1);
  const uint64_t width = number(1, count - begin);
  const auto value = static_cast<uint32_t>(random_());
  const size_t stream = pick_stream(to.device());
  order(to.writes, stream);
  order(to.reads, stream);
  say("fill " + std::to_string(width) + " of " + std::to_string(size) +
      " bytes of buffer " + std::to_string(index) + " in stream " +
      std::to_string(stream));
  const accel_fill one = elements(to.data() + begin * size, value, size, width);
  begin_work(stream);
  write_in(to, stream);
  EXPECT_OK(api().fill(*streams_[stream].stream, &one));
  for (uint64_t i = 0; i < width * size; ++i)
    to.model[begin * size + i] =
        static_cast<unsigned char>(value >> (8 * (i % size)));
}

void Program::callback() {
  const size_t index = number(0, buffers_.size() - 1);
  Buffer& to = *buffers_[index];
  const size_t stream = pick_stream();
  if (to.memory && !library().has(to.memory->device(), ACCEL_CAP_HOST_VISIBLE))
    return;
  order(to.writes, stream);
  order(to.reads, stream);
  say("callback that changes buffer " + std::to_string(index) + " in stream " +
      std::to_string(stream));
  const auto by = static_cast<unsigned char>(number(1, 255));
  shifts_.push_back(
      std::make_unique<Shift>(Shift{to.data(), to.model.size(), by}));
  begin_work(stream);
  write_in(to, stream);
  EXPECT_OK(api().stream_callback(
      *streams_[stream].stream, Shift::call, shifts_.back().get()));
  for (auto& byte : to.model)
    byte = static_cast<unsigned char>(byte + by);
}

void Program::record() {
  if (events_.empty())
    return;
  const size_t index = number(0, events_.size() - 1);
  EventState& event = events_[index];
  const size_t stream = pick_stream();
  if (streams_[stream].device != event.device)
    return;
  say("record event " + std::to_string(index) + " in stream " +
      std::to_string(stream));
  EXPECT_OK(api().event_record(event.event, *streams_[stream].stream));
  join(streams_[stream].clock, host_);
  event.clock = streams_[stream].clock;
}

void Program::wait() {
  if (events_.empty())
    return;
  const size_t index = number(0, events_.size() - 1);
  const size_t stream = pick_stream();
  say("stream " + std::to_string(stream) + " waits for event " +
      std::to_string(index));
  EXPECT_OK(
      api().stream_wait_event(*streams_[stream].stream, events_[index].event));
  join(streams_[stream].clock, events_[index].clock);
}

void Program::synchronize() {
  const size_t index = number(0, 3);
  if (index < events_.size()) {
    say("synchronize event " + std::to_string(index));
    EXPECT_OK(api().event_synchronize(events_[index].event));
    EXPECT_OK(api().event_query(events_[index].event));
    return join(host_, events_[index].clock);
  }
  const size_t stream = pick_stream();
  say("synchronize stream " + std::to_string(stream));
  EXPECT_OK(api().stream_synchronize(*streams_[stream].stream));
  EXPECT_OK(api().stream_query(*streams_[stream].stream));
  join(host_, streams_[stream].clock);
}

void Program::check(size_t index) {
  Buffer& buffer = *buffers_[index];
  order(buffer.writes, kHost);
  say("check buffer " + std::to_string(index));
  std::vector<unsigned char> found = buffer.host;
  if (buffer.memory) {
    if (library().has(buffer.device(), ACCEL_CAP_HOST_VISIBLE) &&
        number(0, 1) == 0)
      found.assign(buffer.data(), buffer.data() + buffer.model.size());
    else {
      const size_t stream = pick_stream(buffer.device());
      found = read(*streams_[stream].stream, *buffer.memory);
      join(streams_[stream].clock, host_);
      join(host_, streams_[stream].clock);
    }
  }
  EXPECT_EQ(found, buffer.model) << "buffer " << index;
}

uint64_t Program::number(uint64_t least, uint64_t most) {
  return std::uniform_int_distribution<uint64_t>(least, most)(random_);
}

void Program::say(const std::string& line) {
  lines_.push_back(line);
}

size_t Program::pick_stream(int32_t device) {
  const size_t begin = number(0, streams_.size() - 1);
  size_t gone = kHost;
  for (size_t i = 0; i < streams_.size(); ++i) {
    const size_t one = (begin + i) % streams_.size();
    if (device != kAnyDevice && streams_[one].device != device)
      continue;
    if (streams_[one].stream)
      return one;
    gone = one;
  }
  // Each device has had one; all that its earlier self did comes first.
  StreamState& state = streams_.at(gone);
  say("stream " + std::to_string(gone) + " is made again");
  EXPECT_OK(api().device_synchronize(state.device));
  host_[gone] = state.given;
  state.stream = std::make_unique<Stream>(api(), state.device);
  return gone;
}

void Program::order(const std::vector<Access>& accesses, size_t before) {
  for (const auto& access : accesses)
    order(access, before);
}

void Program::order(const Access& access, size_t before) {
  if (knows(host_, access) ||
      (before != kHost && knows(streams_[before].clock, access)))
    return;
  StreamState& source = streams_[access.stream];
  join(source.clock, host_);
  const std::string name = std::to_string(access.stream);
  const uint64_t way = number(0, 3);
  if (!source.stream) {
    say("synchronize device " + std::to_string(source.device));
    EXPECT_OK(api().device_synchronize(source.device));
    for (const auto& one : streams_)
      if (one.device == source.device)
        join(host_, one.clock);
  } else if (before == kHost || way == 0) {
    say("synchronize stream " + name);
    EXPECT_OK(api().stream_synchronize(*source.stream));
    join(host_, source.clock);
  } else {
    // An event of its own, which goes at once, or one that is there.
    Clock* kept = nullptr;
    accel_event event = nullptr;
    for (auto& one : events_)
      if (way > 1 && one.device == source.device) {
        event = one.event;
        kept = &one.clock;
      }
    std::unique_ptr<Event> own;
    if (!event) {
      own = std::make_unique<Event>(api(), source.device);
      event = *own;
    }
    EXPECT_OK(api().event_record(event, *source.stream));
    if (kept)
      *kept = source.clock;
    if (way == 3) {
      say("synchronize an event behind stream " + name);
      EXPECT_OK(api().event_synchronize(event));
      join(host_, source.clock);
    } else {
      say("stream " + std::to_string(before) + " waits for stream " + name);
      EXPECT_OK(api().stream_wait_event(*streams_[before].stream, event));
      join(streams_[before].clock, source.clock);
    }
  }
}

void Program::begin_work(size_t stream) {
  StreamState& state = streams_[stream];
  join(state.clock, host_);
  state.clock[stream] = ++state.given;
}

void Program::read_in(Buffer& buffer, size_t stream) {
  buffer.reads.push_back({stream, streams_[stream].given});
}

void Program::write_in(Buffer& buffer, size_t stream) {
  buffer.writes = {{stream, streams_[stream].given}};
  buffer.reads.clear();
}

void Program::join(Clock& to, const Clock& from) {
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = std::max(to[i], from[i]);
}

bool Program::knows(const Clock& clock, const Access& access) {
  return clock[access.stream] >= access.number;
}

} // namespace accelerator::conformance
