#define _GNU_SOURCE
#include "device/fake/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const uintptr_t begin_all = 0x7e8000000000, end_all = 0x7ef000000000;
static const uint32_t magic = 0x454b4146;
#define FILE_NAME "accel-fake"

static int file = -1; /* none, or the host has none to give */
static pid_t owner; /* who made the file: a fork has the descriptor, too */

/* In the page behind memory, which nobody maps, once it has a name. */
struct record {
  uint64_t key, bytes;
  /* The one number of the process that names it: a thread's finds it, too. */
  uint64_t process;
};

static off_t place(const char* at) {
  return (off_t)((uintptr_t)at - begin_all);
}

/* Makes the file. It does not get shorter, so that what is mapped of it stays
 * good whatever others do. */
static void make_file(void) {
  file = memfd_create(FILE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  owner = getpid();
  if (file >= 0 &&
      (ftruncate(file, (off_t)(end_all - begin_all + PAGE)) ||
       fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK))) {
    close(file);
    file = -1;
  }
}

char* shared_map(uint64_t size, uint64_t alignment) {
  static uintptr_t next;
  if (owner != getpid())
    make_file();
  int flags = MAP_NORESERVE | MAP_FIXED_NOREPLACE |
      (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
  uintptr_t mask = (alignment > PAGE ? alignment : PAGE) - 1;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    uintptr_t at = ((next > begin_all ? next : begin_all) + mask) & ~mask;
    if (at < begin_all || at > end_all || size > end_all - at)
      at = (begin_all + mask) & ~mask;
    next = at + size + PAGE;
    int access = PROT_READ | PROT_WRITE;
    off_t offset = file < 0 ? 0 : place((char*)at);
    char* got = mmap((void*)at, size, access, flags, file, offset);
    if (got != MAP_FAILED || errno != EEXIST)
      return got == MAP_FAILED ? NULL : got;
  }
  return NULL;
}

void shared_unmap(char* begin, uint64_t size) {
  munmap(begin, size);
  if (file >= 0 && owner == getpid())
    fallocate(
        file,
        FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
        place(begin),
        (off_t)(size + PAGE));
}

enum shared_status shared_export(
    char* begin,
    uint64_t size,
    uint64_t bytes,
    struct shared_name* name) {
  if (file < 0 || owner != getpid())
    return SHARED_NOT;
  struct record record = {0, 0, 0};
  const ssize_t whole = sizeof record;
  off_t at = place(begin) + (off_t)size;
  if (pread(file, &record, sizeof record, at) != whole)
    return SHARED_NOT;
  while (record.key == 0) {
    record.bytes = bytes;
    record.process = (uint64_t)owner;
    if (getrandom(&record.key, sizeof record.key, 0) != sizeof record.key)
      return SHARED_NOT;
    if (record.key != 0 && pwrite(file, &record, sizeof record, at) != whole)
      return SHARED_NO_ROOM;
  }
  *name = (struct shared_name){
      magic, owner, file, 0, (uint64_t)place(begin), bytes, record.key, 0};
  return SHARED_OK;
}

/* Opens the file of a name; -1: there is none, -2: it is another kind. */
static int open_file(const struct shared_name* name) {
  char path[64], target[64] = "";
  static const char kind[] = "/memfd:" FILE_NAME;
  snprintf(path, sizeof path, "/proc/%d/fd/%d", name->process, name->file);
  /* Looked at before it is opened: to open a device or a pipe has effects. */
  if (readlink(path, target, sizeof target - 1) < 0)
    return -1;
  if (strncmp(target, kind, sizeof kind - 1) != 0)
    return -2;
  return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

/* Whether the file has memory of that name. */
static bool is_there(int opened, const struct shared_name* name) {
  struct stat status;
  struct record record = {0, 0, 0};
  uint64_t size = whole_pages(name->bytes);
  int seals = fcntl(opened, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(opened, &status))
    return false;
  uint64_t all = (uint64_t)status.st_size;
  if (name->offset % PAGE || name->offset > all ||
      size + PAGE > all - name->offset)
    return false;
  off_t at = (off_t)(name->offset + size);
  return pread(opened, &record, sizeof record, at) == (ssize_t)sizeof record &&
      record.key == name->key && record.bytes == name->bytes &&
      record.process == (uint64_t)name->process;
}

enum shared_status shared_import(const struct shared_name* name, char** begin) {
  if (name->magic != magic || name->zero || name->zeros || name->process <= 0 ||
      name->file < 0 || name->bytes == 0 || name->key == 0 ||
      name->bytes > end_all - begin_all)
    return SHARED_UNKNOWN;
  int opened = open_file(name);
  if (opened < 0)
    return opened == -1 ? SHARED_ENDED : SHARED_UNKNOWN;
  enum shared_status status = SHARED_UNKNOWN;
  if (is_there(opened, name)) {
    uint64_t size = whole_pages(name->bytes);
    int access = PROT_READ | PROT_WRITE;
    off_t offset = (off_t)name->offset;
    char* got = mmap(NULL, size, access, MAP_SHARED, opened, offset);
    status = got == MAP_FAILED ? SHARED_NO_ROOM : SHARED_OK;
    if (status == SHARED_OK)
      *begin = got;
  }
  close(opened);
  return status;
}
