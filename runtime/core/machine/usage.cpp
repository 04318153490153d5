#include "runtime/core/machine/usage.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/host/host_error.h"
#include "device/host/process.h"
#include "device/host/shared_file.h"
#include "runtime/core/machine/contexts.h"
#include "runtime/core/machine/machine.h"

namespace accelerator::runtime {
namespace {

const char* const kFileName = "accel-usage";
constexpr std::uint64_t kMagic = 0x4547415355434341; // "ACCUSAGE"
constexpr std::uint32_t kVersion = 1;
// How long it is known which processes have a page: programs ask NVML for much
// at a time, and looking through /proc takes milliseconds.
constexpr std::chrono::milliseconds kKnown{50};
// How long processes are waited for that were asked whether they have work.
constexpr std::chrono::milliseconds kPatience{20};

// What a process shows of a device.
struct Place {
  unsigned char uuid[16];
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::uint32_t> used; // whether there is a context
  std::atomic<std::uint32_t> busy; // when it was asked last
};

// What the file begins with; places follow. Whether there is work is known when
// the device is asked, so readers count `asked` up, and a thread of the process
// answers: work itself costs nothing more.
struct Page {
  std::atomic<std::uint64_t> magic; // when the rest is there
  std::uint32_t version;
  std::uint32_t places;
  std::int32_t process; // a forked child has the file, too
  std::atomic<std::uint32_t> asked;
  std::atomic<std::uint32_t> answered;
  std::uint32_t unused;

  Place& place(std::uint32_t number) {
    return reinterpret_cast<Place*>(this + 1)[number];
  }
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(Place) == 32 && sizeof(Page) == 32);

constexpr std::uint64_t bytes_for(std::uint64_t places) {
  return sizeof(Page) + places * sizeof(Place);
}

void* map_file(int file, std::uint64_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void wait_for_change(
    std::atomic<std::uint32_t>& word,
    std::uint32_t value,
    const timespec* timeout) {
  syscall(
      SYS_futex,
      reinterpret_cast<std::uint32_t*>(&word),
      FUTEX_WAIT,
      value,
      timeout,
      nullptr,
      0);
}

void wake(std::atomic<std::uint32_t>& word) {
  syscall(
      SYS_futex,
      reinterpret_cast<std::uint32_t*>(&word),
      FUTEX_WAKE,
      INT_MAX,
      nullptr,
      nullptr,
      0);
}

bool has_work(Device& device) {
  const auto streams = device.streams();
  return std::any_of(streams.begin(), streams.end(), [](const auto& stream) {
    return !stream->idle();
  });
}

std::mutex work_mutex; // held while devices are asked
bool work_is_shown = true;

void answer_readers(Page& page) {
  for (std::uint32_t done = 0;;) {
    const std::uint32_t asked = page.asked;
    if (asked == done) {
      wait_for_change(page.asked, asked, nullptr);
      continue;
    }
    {
      const std::lock_guard lock(work_mutex);
      for (std::uint32_t number = 0; number < page.places; ++number) {
        Place& place = page.place(number);
        place.busy = work_is_shown && place.used != 0 &&
            has_work(machine().device(static_cast<int>(number)));
      }
    }
    done = asked;
    page.answered = done;
    wake(page.answered);
  }
}

// Signals are the program's, and no business of this thread.
void start_answering(Page& page) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(answer_readers, std::ref(page)).detach();
  } catch (const std::exception&) {
    // Without a thread nobody answers, which is "no work".
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// The page of this process, with all devices that it sees; null where the host
// has no memory for it. Its file stays open for the others.
Page* make_page() {
  const auto places = static_cast<std::uint32_t>(machine().device_count());
  const std::uint64_t bytes = bytes_for(places);
  const int file = host::create_shared_file(kFileName, bytes);
  void* const memory = file < 0 ? nullptr : map_file(file, bytes);
  if (memory == nullptr) {
    if (file >= 0) {
      close(file);
    }
    return nullptr;
  }
  auto* page = new (memory) Page{};
  page->version = kVersion;
  page->places = places;
  page->process = getpid();
  for (std::uint32_t number = 0; number < places; ++number) {
    const auto ordinal = static_cast<int>(number);
    Place& place = *new (&page->place(number)) Place{};
    std::memcpy(
        place.uuid,
        machine().device(ordinal).properties().uuid.bytes,
        sizeof(place.uuid));
    machine().addresses().show_allocated(ordinal, place.bytes);
  }
  page->magic = kMagic;
  start_answering(*page);
  return page;
}

class KnownPages {
 public:
  std::vector<host::FoundFile> get() {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (!is_known_ || now - found_at_ > kKnown) {
      found_ = host::find_shared_files(kFileName);
      found_at_ = now;
      is_known_ = true;
    }
    return found_;
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    is_known_ = false;
  }

 private:
  std::mutex mutex_;
  bool is_known_ = false;
  std::chrono::steady_clock::time_point found_at_;
  std::vector<host::FoundFile> found_;
};

KnownPages& known_pages() {
  static auto* known = new KnownPages; // threads end late
  return *known;
}

// A page of a process, this one's too.
class Mapping {
 public:
  explicit Mapping(const host::FoundFile& found) : process_(found.process) {
    int file = -1;
    try {
      file =
          host::open_shared_file(found.process, found.file, kFileName, &bytes_);
    } catch (const host::HostError&) {
      return; // it has ended, say
    }
    if (bytes_ >= sizeof(Page)) {
      page_ = static_cast<Page*>(map_file(file, bytes_));
    }
    close(file);
    number_ = host::own_number(found.process);
  }
  Mapping(Mapping&& other) noexcept
      : process_(other.process_),
        number_(other.number_),
        bytes_(other.bytes_),
        page_(std::exchange(other.page_, nullptr)) {}
  ~Mapping() {
    if (page_ != nullptr) {
      munmap(page_, bytes_);
    }
  }

  std::int32_t process() const {
    return process_;
  }
  Page& page() const {
    return *page_;
  }
  /// Where the process shows its use of a device; null when it has none.
  Place* find(const unsigned char (&uuid)[16]) const {
    if (page_ == nullptr || page_->magic != kMagic ||
        page_->version != kVersion || page_->process != number_ ||
        bytes_for(page_->places) > bytes_) {
      return nullptr;
    }
    for (std::uint32_t number = 0; number < page_->places; ++number) {
      Place& place = page_->place(number);
      if (std::memcmp(place.uuid, uuid, sizeof(uuid)) == 0 && place.used != 0) {
        return &place;
      }
    }
    return nullptr;
  }

 private:
  std::int32_t process_;
  std::int32_t number_ = 0;
  std::uint64_t bytes_ = 0;
  Page* page_ = nullptr;
};

// Whether the process has answered by then.
bool wait_for_answer(
    Page& page,
    std::uint32_t asked,
    std::chrono::steady_clock::time_point until) {
  for (;;) {
    const std::uint32_t answered = page.answered;
    // Others ask, too; numbers go around.
    if (static_cast<std::int32_t>(answered - asked) >= 0) {
      return true;
    }
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return false;
    }
    const timespec timeout{0, left.count()};
    wait_for_change(page.answered, answered, &timeout);
  }
}

} // namespace

void show_usage(Device& device) {
  static std::mutex mutex;
  static Page* page = nullptr;
  static bool tried = false;
  const bool used = device.active() || contexts().any_on(device.ordinal());
  const std::lock_guard lock(mutex);
  if (used && !std::exchange(tried, true)) {
    page = make_page();
    known_pages().forget();
  }
  if (page != nullptr) {
    page->place(static_cast<std::uint32_t>(device.ordinal())).used = used;
  }
}

void stop_showing_work() {
  const std::lock_guard lock(work_mutex);
  work_is_shown = false;
}

std::vector<Usage> usage_of(const unsigned char (&uuid)[16]) {
  struct Asked {
    Mapping mapping;
    Place* place;
    std::uint32_t number;
  };
  std::vector<Asked> all;
  for (const host::FoundFile& found : known_pages().get()) {
    Mapping mapping(found);
    if (Place* const place = mapping.find(uuid)) {
      Page& page = mapping.page();
      const std::uint32_t number = ++page.asked;
      wake(page.asked);
      all.push_back({std::move(mapping), place, number});
    }
  }
  const auto until = std::chrono::steady_clock::now() + kPatience;
  std::vector<Usage> usages;
  for (const Asked& one : all) {
    const bool answered =
        wait_for_answer(one.mapping.page(), one.number, until);
    usages.push_back(
        {one.mapping.process(),
         one.place->bytes,
         answered && one.place->busy != 0});
  }
  return usages;
}

} // namespace accelerator::runtime
