// Compiled code on disk, for processes to come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cudasim::native {

/// Objects by the text that they were compiled of. Of any number of processes,
/// each may find what another left. An object is only taken from a folder that
/// nobody else may write to, and as it was written; any failure is as if there
/// were none. What was used longest ago is removed where the folder is full.
class ObjectCache {
 public:
  /// @param folder is made when something is put there; empty: nothing is kept.
  /// @param most_bytes of all objects.
  explicit ObjectCache(
      std::string folder,
      std::uint64_t most_bytes = std::uint64_t{256} << 20);

  /// @param text that was compiled, and whatever else the object depends on.
  std::optional<std::string> find(const std::string& text) const;
  /// Keeps an object.
  void put(const std::string& text, const std::string& object);
  /// Whether there is any object, of whatever text.
  bool has_objects() const;

 private:
  bool is_private() const;
  void make_room(std::uint64_t bytes);

  const std::string folder_;
  const std::uint64_t most_bytes_;
};

/// The folder that CUDASIM_NATIVE_CACHE names, else torch_cuda/native in the
/// user's folder of caches (XDG Base Directory Specification); empty for "off"
/// and where there is none.
std::string cache_folder();

} // namespace cudasim::native
