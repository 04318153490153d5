#include "cudasim/native/object_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace cudasim::native {
namespace {

/// Objects of other versions of this file, or of what the code assumes of the
/// engine beside its text, are never found.
constexpr char kFormat[] = "torch_cuda native 2";
constexpr const char* kEnding = ".o";
constexpr const char* kDraft = "native-draft-"; // and six letters
constexpr std::size_t kDigits = 32;

/// 128 bits of a text. The folder is private: it need not withstand people.
struct Digest {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

Digest digest(const std::string& text) {
  const std::hash<std::string_view> hash;
  return {hash(text), hash(kFormat + text)};
}

/// Before the object.
struct Header {
  char format[sizeof(kFormat)] = {};
  std::uint64_t text_bytes = 0;
  Digest text;
  std::uint64_t object_bytes = 0;
  Digest object;
};

Header header_of(const std::string& text, const std::string& object) {
  Header header;
  std::memset(static_cast<void*>(&header), 0, sizeof(header)); // and between
  std::memcpy(header.format, kFormat, sizeof(kFormat));
  header.text_bytes = text.size();
  header.text = digest(text);
  header.object_bytes = object.size();
  header.object = digest(object);
  return header;
}

std::string name_of(const std::string& text) {
  const Digest key = digest(text);
  char name[40];
  std::snprintf(
      name,
      sizeof(name),
      "%016llx%016llx",
      static_cast<unsigned long long>(key.first),
      static_cast<unsigned long long>(key.second));
  return name;
}

/// Whether nobody else may write to what is open.
bool is_own(int file, mode_t type) {
  struct stat found{};
  return fstat(file, &found) == 0 && (found.st_mode & S_IFMT) == type &&
      found.st_uid == geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool write_all(int file, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(file, data, size);
    if (written <= 0) {
      return false;
    }
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

/// With the folders that it is in; for the user alone, as the standard has it
/// for folders of caches.
void make_folder(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos;
       at = path.find('/', at + 1)) {
    mkdir(path.substr(0, at).c_str(), S_IRWXU);
  }
  mkdir(path.c_str(), S_IRWXU);
}

/// Whether a file of the folder is the cache's own: all others stay.
bool is_own_name(const std::string& name) {
  if (name.rfind(kDraft, 0) == 0) {
    return name.size() == std::strlen(kDraft) + 6;
  }
  return name.size() == kDigits + std::strlen(kEnding) &&
      name.find_first_not_of("0123456789abcdef") == kDigits &&
      name.compare(kDigits, std::string::npos, kEnding) == 0;
}

std::optional<std::string> read_all(int file) {
  std::string content;
  char part[1 << 16];
  while (true) {
    const ssize_t count = read(file, part, sizeof(part));
    if (count < 0) {
      return std::nullopt;
    }
    if (count == 0) {
      return content;
    }
    content.append(part, static_cast<std::size_t>(count));
  }
}

} // namespace

ObjectCache::ObjectCache(std::string folder, std::uint64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {}

bool ObjectCache::is_private() const {
  const int folder = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    return false;
  }
  const bool own = is_own(folder, S_IFDIR);
  close(folder);
  return own;
}

std::optional<std::string> ObjectCache::find(const std::string& text) const {
  if (folder_.empty() || !is_private()) {
    return std::nullopt;
  }
  const std::string path = folder_ + "/" + name_of(text) + kEnding;
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) {
    return std::nullopt;
  }
  std::optional<std::string> content;
  if (is_own(file, S_IFREG)) {
    content = read_all(file);
    futimens(file, nullptr); // used now: see make_room()
  }
  close(file);
  if (!content.has_value() || content->size() < sizeof(Header)) {
    return std::nullopt;
  }
  const std::string object = content->substr(sizeof(Header));
  const Header expected = header_of(text, object);
  if (std::memcmp(content->data(), &expected, sizeof(Header)) != 0) {
    return std::nullopt; // damaged, or not this text's
  }
  return object;
}

bool ObjectCache::has_objects() const {
  DIR* const folder = folder_.empty() ? nullptr : opendir(folder_.c_str());
  if (folder == nullptr) {
    return false;
  }
  bool any = false;
  while (const dirent* const entry = any ? nullptr : readdir(folder)) {
    any = is_own_name(entry->d_name);
  }
  closedir(folder);
  return any;
}

void ObjectCache::put(const std::string& text, const std::string& object) {
  if (folder_.empty()) {
    return;
  }
  make_folder(folder_);
  if (!is_private()) {
    return;
  }
  const Header header = header_of(text, object);
  make_room(sizeof(header) + object.size());
  std::string draft = folder_ + "/" + kDraft + "XXXXXX";
  const int file = mkostemp(draft.data(), O_CLOEXEC);
  if (file < 0) {
    return;
  }
  const bool well =
      write_all(file, reinterpret_cast<const char*>(&header), sizeof(header)) &&
      write_all(file, object.data(), object.size());
  const bool closed = close(file) == 0;
  const std::string path = folder_ + "/" + name_of(text) + kEnding;
  // Others see all of it or nothing.
  if (!well || !closed || rename(draft.c_str(), path.c_str()) != 0) {
    unlink(draft.c_str());
  }
}

/// Removes what was used longest ago, down to three quarters.
void ObjectCache::make_room(std::uint64_t bytes) {
  struct Kept {
    std::string path;
    timespec used{};
    std::uint64_t bytes = 0;
  };
  DIR* const folder = opendir(folder_.c_str());
  if (folder == nullptr) {
    return;
  }
  std::vector<Kept> all;
  std::uint64_t total = bytes;
  while (const dirent* const entry = readdir(folder)) {
    if (!is_own_name(entry->d_name)) {
      continue;
    }
    const std::string path = folder_ + "/" + entry->d_name;
    struct stat found{};
    // Another process may be doing the same.
    if (lstat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode)) {
      const auto size = static_cast<std::uint64_t>(found.st_size);
      total += size;
      all.push_back({path, found.st_mtim, size});
    }
  }
  closedir(folder);
  if (total <= most_bytes_) {
    return;
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) <
        std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Kept& kept : all) {
    if (total <= most_bytes_ / 4 * 3) {
      return;
    }
    unlink(kept.path.c_str());
    total -= kept.bytes;
  }
}

std::string cache_folder() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string chosen = variable("CUDASIM_NATIVE_CACHE");
  if (!chosen.empty()) {
    return chosen == "off" ? "" : chosen;
  }
  std::string caches = variable("XDG_CACHE_HOME");
  if (caches.empty() || caches[0] != '/') {
    const std::string home = variable("HOME");
    if (home.empty() || home[0] != '/') {
      return "";
    }
    caches = home + "/.cache";
  }
  return caches + "/torch_cuda/native";
}

} // namespace cudasim::native
