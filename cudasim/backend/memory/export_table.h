// Which memory of a device other processes may open. The table lies behind that
// memory in the same file, so that who opens the file can see whether a handle
// tells the truth.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace cudasim::backend {

/// What a handle says of the memory that it names; part of the handle's bytes.
struct Export {
  std::uint64_t key; // random; not the same for two exports
  std::uint64_t offset; // in the file, bytes
  std::uint64_t size;
  std::uint64_t slot; // in the table
};

/// The table of the process that owns the memory. Thread-safe.
class ExportTable {
 public:
  /// Bytes to be left for it at the end of the file.
  static std::uint64_t bytes();

  /// @param file of memory, which ends where the table begins: at `begin`, a
  /// multiple of the page size.
  /// @throws Error: ACCEL_UNKNOWN.
  ExportTable(int file, std::uint64_t begin);
  ~ExportTable();
  ExportTable(const ExportTable&) = delete;
  ExportTable& operator=(const ExportTable&) = delete;

  /// Lets others open a piece of memory; the same each time.
  /// @throws Error: ACCEL_OUT_OF_MEMORY when there are too many.
  Export enter(std::uint64_t offset, std::uint64_t size);
  /// The piece that begins there is no more.
  void remove(std::uint64_t offset);

  /// Whether the table in somebody's file has this entry, which then lies
  /// inside of the file's memory.
  /// @param bytes of the whole file.
  static bool has(int file, std::uint64_t bytes, const Export& wanted);

 private:
  struct Slot;

  Slot* slots_;
  std::mutex mutex_;
  std::map<std::uint64_t, Export> exports_; // by offset
  std::vector<std::uint64_t> free_; // slots that were used before
};

} // namespace cudasim::backend
