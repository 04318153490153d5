// The buffers that a profiler lends, and the records in them.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

namespace accelerator::cupti {

/// Fills buffers with records and gives them back. Thread-safe; the profiler's
/// functions are called without a lock, by whoever writes or flushes.
class RecordBuffers {
 public:
  /// Who lends buffers and takes them back.
  void set_callbacks(
      CUpti_BuffersCallbackRequestFunc request,
      CUpti_BuffersCallbackCompleteFunc complete);
  bool has_callbacks() const;

  /// Puts a record behind the others. One that finds no place is dropped and
  /// counted: the profiler lent no buffer, or one in which no record fits.
  template <typename Record>
  void write(const Record& record) {
    static_assert(sizeof(Record) % kAlignment == 0);
    write_bytes(&record, sizeof(record));
  }

  /// Gives back all buffers with records; with `empty_too` those without as
  /// well.
  void flush(bool empty_too);

  /// Records that were dropped since the last time somebody asked.
  std::size_t take_dropped();

  /// Forgets all buffers and counts, in a child whose parent they are of.
  void forget();

 private:
  static constexpr std::size_t kAlignment = 8;

  struct Buffer {
    std::uint8_t* memory = nullptr;
    std::size_t size = 0;
    std::size_t most_records = 0; // 0: as many as fit
    std::size_t used = 0;
    std::size_t records = 0;

    bool has_room(std::size_t bytes) const {
      return memory != nullptr && size - used >= bytes &&
          (most_records == 0 || records < most_records);
    }
  };

  void write_bytes(const void* record, std::size_t bytes);
  Buffer request() const;
  void complete(const Buffer& buffer) const;

  mutable std::mutex mutex_;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  Buffer current_;
  std::vector<Buffer> spare_; // lent to several threads at the same time
  std::size_t dropped_ = 0;
};

/// The record behind another one in a buffer, or the first.
/// @param record the last one, or null; is moved on.
/// @returns CUPTI_ERROR_MAX_LIMIT_REACHED when there is none.
CUptiResult next_record(
    std::uint8_t* buffer,
    std::size_t valid_bytes,
    CUpti_Activity** record);

} // namespace accelerator::cupti
