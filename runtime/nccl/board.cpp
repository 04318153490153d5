#include "runtime/nccl/board.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <string>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/host/host_error.h"
#include "device/host/shared_file.h"
#include "runtime/core/status/status.h"
#include "runtime/nccl/error.h"

namespace accelerator::nccl {

// Where the file begins; zeros until the first rank has come.
struct alignas(64) Board::Header {
  std::uint64_t key;
  std::atomic<std::uint32_t> ranks;
  std::atomic<std::uint32_t> told;
  /// The low halves of a collective's number and of the next piece's.
  std::atomic<std::uint64_t> next_piece;
};

namespace {

// A file's name is seen in /proc only; device/ipc opens no file without it.
const char* const kFileName = "accel-nccl";
constexpr std::uint64_t kMagic = 0x4c43434e4d4953ULL; // "SIMNCCL"
constexpr std::uint64_t kHeaderBytes = 4096;
constexpr long kBellPatience = 50'000'000; // nanoseconds

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// The bytes of an ncclUniqueId, less the zeros behind.
struct Id {
  std::uint64_t magic;
  std::int32_t process;
  std::int32_t file;
  std::uint64_t key;
};
static_assert(sizeof(Id) <= sizeof(ncclUniqueId));

std::uint64_t bytes_for(int ranks) {
  const auto n = static_cast<std::uint64_t>(ranks);
  return kHeaderBytes + n * sizeof(Place) + n * n * kMessages * sizeof(Message);
}

// The boards that this process has mapped, and the files whose ids it gave out.
std::mutex boards_mutex;
std::map<std::uint64_t, std::weak_ptr<Board>>& boards() {
  static auto* map = new std::map<std::uint64_t, std::weak_ptr<Board>>;
  return *map;
}
std::map<std::uint64_t, int>& given_out() {
  static auto* map = new std::map<std::uint64_t, int>;
  return *map;
}

void close_given_out(std::uint64_t key) {
  const std::lock_guard lock(boards_mutex);
  const auto found = given_out().find(key);
  if (found != given_out().end()) {
    close(found->second);
    given_out().erase(found);
  }
}

long futex(
    std::atomic<std::uint32_t>& word,
    int operation,
    std::uint32_t value,
    const timespec* timeout) {
  return syscall(
      SYS_futex,
      reinterpret_cast<std::uint32_t*>(&word),
      operation,
      value,
      timeout,
      nullptr,
      0);
}

} // namespace

ncclUniqueId Board::create() {
  const int file =
      accelerator::host::create_shared_file(kFileName, kHeaderBytes);
  require(
      file >= 0,
      ncclSystemError,
      std::string("memfd_create failed: ") + std::strerror(errno));
  const Id parts{kMagic, getpid(), file, accelerator::host::random_key()};
  if (pwrite(file, &parts.key, sizeof(parts.key), 0) != sizeof(parts.key)) {
    const std::string reason = std::strerror(errno);
    close(file);
    throw Error(ncclSystemError, "writing to a memfd failed: " + reason);
  }
  const std::lock_guard lock(boards_mutex);
  given_out()[parts.key] = file;
  ncclUniqueId id{};
  std::memcpy(&id, &parts, sizeof(parts));
  return id;
}

std::shared_ptr<Board> Board::open(const ncclUniqueId& id, int ranks) {
  Id parts;
  std::memcpy(&parts, &id, sizeof(parts));
  require(
      parts.magic == kMagic,
      ncclInvalidArgument,
      "the ncclUniqueId is none that ncclGetUniqueId of this NCCL made");
  const std::lock_guard lock(boards_mutex);
  const auto known = boards().find(parts.key);
  std::shared_ptr<Board> board =
      known == boards().end() ? nullptr : known->second.lock();
  if (board == nullptr) {
    std::uint64_t bytes = 0;
    int file = -1;
    try {
      file = accelerator::host::open_shared_file(
          parts.process, parts.file, kFileName, &bytes);
    } catch (const accelerator::host::HostError& error) {
      throw Error(
          ncclRemoteError,
          "the ncclUniqueId of process " + std::to_string(parts.process) +
              " cannot be used: the process has ended or belongs to another user, "
              "or all ranks have already joined (" +
              std::string(error.what()) + ")");
    }
    board = std::make_shared<Board>(file, parts.key, ranks);
    for (auto entry = boards().begin(); entry != boards().end();) {
      entry = entry->second.expired() ? boards().erase(entry) : ++entry;
    }
    boards()[parts.key] = board;
  }
  require(
      board->ranks() == ranks,
      ncclInvalidArgument,
      "this rank says that there are " + std::to_string(ranks) +
          " ranks, but another said " + std::to_string(board->ranks()));
  return board;
}

Board::Board(int file, std::uint64_t key, int ranks)
    : bytes_(bytes_for(ranks)), key_(key), ranks_(ranks) {
  // Pages that nobody uses take no memory.
  struct stat status{};
  const bool large = fstat(file, &status) == 0 &&
      (static_cast<std::uint64_t>(status.st_size) >= bytes_ ||
       ftruncate(file, static_cast<off_t>(bytes_)) == 0);
  if (large) {
    memory_ =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  const std::string reason = std::strerror(errno);
  close(file);
  require(
      large && memory_ != MAP_FAILED,
      ncclSystemError,
      "mapping the memory that ranks share failed: " + reason);
  std::uint32_t before = 0;
  header().ranks.compare_exchange_strong(
      before, static_cast<std::uint32_t>(ranks));
  if (header().key != key ||
      (before != 0 && before != static_cast<std::uint32_t>(ranks))) {
    const bool same = header().key == key;
    munmap(memory_, bytes_);
    require(
        same, ncclInvalidArgument, "the ncclUniqueId is of an earlier time");
    throw Error(
        ncclInvalidArgument,
        "this rank says that there are " + std::to_string(ranks) +
            " ranks, but another said " + std::to_string(before));
  }
}

Board::~Board() {
  munmap(memory_, bytes_);
}

Board::Header& Board::header() const {
  return *static_cast<Header*>(memory_);
}

Place& Board::place(int rank) const {
  auto* places = reinterpret_cast<Place*>(
      static_cast<unsigned char*>(memory_) + kHeaderBytes);
  return places[rank];
}

Message& Board::message(int from, int to, std::uint64_t n) const {
  auto* messages = reinterpret_cast<Message*>(&place(ranks_));
  const auto pair =
      static_cast<std::uint64_t>(from) * static_cast<std::uint64_t>(ranks_) +
      static_cast<std::uint64_t>(to);
  return messages[pair * kMessages + n % kMessages];
}

void Board::ring(int rank) const {
  Place& other = place(rank);
  ++other.bell;
  if (other.sleepers != 0) {
    futex(other.bell, FUTEX_WAKE, INT_MAX, nullptr);
  }
}

void Board::ring_all() const {
  for (int rank = 0; rank < ranks_; ++rank) {
    ring(rank);
  }
}

std::uint32_t Board::take(std::uint64_t number, std::uint32_t pieces) const {
  const std::uint64_t first = number << 32;
  std::uint64_t next = header().next_piece;
  std::uint64_t taken = 0;
  do {
    taken = next >> 32 == first >> 32 ? next : first;
    if ((taken & 0xffffffff) >= pieces) {
      return pieces;
    }
  } while (!header().next_piece.compare_exchange_weak(next, taken + 1));
  return static_cast<std::uint32_t>(taken & 0xffffffff);
}

bool Board::first_to_tell() const {
  return header().told.exchange(1) == 0;
}

void Board::forget_id() const {
  close_given_out(key_);
}

void Board::discard(const ncclUniqueId& id) {
  Id parts;
  std::memcpy(&parts, &id, sizeof(parts));
  close_given_out(parts.key);
}

void sleep_at(Place& place, std::uint32_t bell) {
  const timespec patience{0, kBellPatience};
  ++place.sleepers;
  futex(place.bell, FUTEX_WAIT, bell, &patience);
  --place.sleepers;
}

} // namespace accelerator::nccl
