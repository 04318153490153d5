/*
 * The memory of the fake device: of one file in memory, without a name, that
 * other processes of the same user find through /proc as long as this one
 * lives. A byte lies in the file where its address is, so that memory that is
 * given back can be told from memory that is not.
 */
#ifndef ACCELERATOR_BACKENDS_FAKE_SHARED_MEMORY_H_
#define ACCELERATOR_BACKENDS_FAKE_SHARED_MEMORY_H_

#include <stdint.h>

enum { PAGE = 4096 };

/* What names memory for another process. */
struct shared_name {
  uint32_t magic;
  int32_t process;
  int32_t file;
  uint32_t zero;
  uint64_t offset; /* in the file */
  uint64_t bytes;
  uint64_t key; /* random */
  uint64_t zeros;
};

enum shared_status {
  SHARED_OK,
  SHARED_NOT, /* the host has no files in memory */
  SHARED_ENDED, /* the process that named it has ended */
  SHARED_UNKNOWN, /* no process gave such a name, or the memory is freed */
  SHARED_NO_ROOM
};

/* Addresses that the system gives nobody by itself, a page apart and each taken
 * again late: what is used behind its end, or once freed, is not mapped.
 * The calls are not for several threads at a time.
 * size: bytes, whole pages.
 * Null: there is no memory. */
char* shared_map(uint64_t size, uint64_t alignment);
/* Gives it back; it is full of zeros for those who still have it mapped. */
void shared_unmap(char* begin, uint64_t size);

/* Names memory that shared_map gave, the same each time.
 * bytes: of `size`, those that count. */
enum shared_status shared_export(
    char* begin,
    uint64_t size,
    uint64_t bytes,
    struct shared_name* name);

/* Maps memory that a process has named.
 * begin: receives where it lies here; munmap() ends it. */
enum shared_status shared_import(const struct shared_name* name, char** begin);

/* Whole pages for bytes. */
static inline uint64_t whole_pages(uint64_t bytes) {
  return (bytes + PAGE - 1) / PAGE * PAGE;
}

#endif /* ACCELERATOR_BACKENDS_FAKE_SHARED_MEMORY_H_ */
