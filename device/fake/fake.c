/*
 * The device "fake", the example of a library of the device ABI: its memory is
 * the host's, its streams are threads (device/host_streams), and
 * faults and latency come to order (options.h). It has the required functions
 * and one optional group: processes can share its memory (shared_memory.h),
 * unless REQUIRED_ONLY is defined. The functions are in the order of
 * device_api.h.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/abi/device_api.h"
#define DEVICE_LIBRARY "fake"
#include "device/errors/fail.h"
#include "device/fake/options.h"
#include "device/fake/shared_memory.h"
#include "device/host_streams/host_streams.h"

struct allocation {
  struct allocation* next;
  char* begin;
  uint64_t size; /* whole pages */
  uint64_t bytes; /* that were asked for */
};

#ifdef REQUIRED_ONLY
enum { OPTIONAL_GROUPS = 0 };
#else
enum { OPTIONAL_GROUPS = ACCEL_CAP_IPC };
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static struct device {
  struct allocation* allocations;
  uint64_t used, allocated; /* bytes; how often */
  _Atomic uint64_t pieces; /* of work; needs no lock */
} devices[MOST_DEVICES];

static void unlock(pthread_mutex_t** held) {
  pthread_mutex_unlock(*held);
}

/* Holds the lock from here to the end of the block. */
#define LOCK                                                      \
  __attribute__((cleanup(unlock))) pthread_mutex_t* held = &lock; \
  pthread_mutex_lock(held)

/* Ends the function when there is no device of that number. */
#define HAS_DEVICE(number)                                  \
  if ((number) < 0 || (uint64_t)(number) >= options[COUNT]) \
  FAIL(ACCEL_NO_DEVICE, "no device %d, see device_count", (int)(number))

/* The same, and declares it. */
#define DEVICE(name, number) \
  HAS_DEVICE(number);        \
  struct device* name = &devices[number]

/* What comes of putting work into a stream. */
static accel_status answer_put(const char* function, bool done) {
  if (done)
    return ACCEL_OK;
  return fail(function, ACCEL_OUT_OF_MEMORY, "no host memory for work");
}

/* Hidden memory is given out by addresses that nothing is mapped at. */
static const uintptr_t hidden_by = (uintptr_t)1 << 54;
static char* seen(const void* address) {
  return (char*)((uintptr_t)address & ~hidden_by);
}

static void* given_out(char* address) {
  return (void*)((uintptr_t)address | (options[HIDDEN] ? hidden_by : 0));
}

/* ---- Work ---- */

/* Counts a piece of work; whether the device is lost, by this one perhaps. */
static bool is_lost(int32_t number) {
  if (++devices[number].pieces == options[LOST])
    host_device_fail(number, ACCEL_DEVICE_LOST);
  return host_device_fault(number) != ACCEL_OK;
}

static void do_copy(int32_t number, void* argument) {
  accel_copy copy = *(const accel_copy*)argument;
  if (is_lost(number))
    return;
  if (options[SLOW])
    poll(NULL, 0, (int)options[SLOW]);
  copy.to = seen(copy.to);
  copy.from = seen(copy.from);
  host_copy(&copy);
}

static void do_fill(int32_t number, void* argument) {
  accel_fill fill = *(const accel_fill*)argument;
  fill.to = seen(fill.to);
  if (!is_lost(number))
    host_fill(&fill);
}

struct call {
  accel_callback callback;
  void* data;
};

static void do_call(int32_t number, void* argument) {
  const struct call* call = argument;
  is_lost(number);
  call->callback(call->data);
}

/* ---- Memory ---- */

/* Frees the allocation at an address, or (null) all; false: there is none. */
static bool release(struct device* device, const void* only) {
  bool found = false;
  for (struct allocation **link = &device->allocations, *at; (at = *link);) {
    if (only && at->begin != seen(only)) {
      link = &at->next;
      continue;
    }
    found = true;
    *link = at->next;
    device->used -= at->size;
    shared_unmap(at->begin, at->size);
    free(at);
  }
  return found;
}

/* Memory of other processes; the lock is its, too. */
static struct allocation* imports;

/* Lets go of what was imported to an address, or (null) of all; false: nothing
 * was. */
static bool let_go(const void* only) {
  bool found = false;
  for (struct allocation **link = &imports, *at; (at = *link);) {
    if (only && at->begin != seen(only)) {
      link = &at->next;
      continue;
    }
    found = true;
    *link = at->next;
    munmap(at->begin, at->size);
    free(at);
  }
  return found;
}

/* ---- The functions ---- */

static accel_status initialize(const char* wanted) {
  const char* bad = parse_options(wanted);
  if (bad)
    FAIL(
        ACCEL_INVALID_ARGUMENT,
        "option \"%.*s\" is none of " ALL_OPTIONS,
        (int)strcspn(bad, ","),
        bad);
  return ACCEL_OK;
}

static accel_status finalize(void) {
  host_streams_finalize();
  LOCK;
  for (int i = 0; i < MOST_DEVICES; ++i)
    release(&devices[i], NULL);
  let_go(NULL);
  return ACCEL_OK;
}

static accel_status device_count(int32_t* count) {
  *count = (int32_t)options[COUNT];
  return ACCEL_OK;
}

static accel_status device_properties(int32_t number, accel_properties* to) {
  HAS_DEVICE(number);
  accel_properties all = {
      .struct_size = to->struct_size,
      .name = "Fake device",
      .uuid = "accel fake",
      .capabilities = (options[HIDDEN] ? 0 : ACCEL_CAP_HOST_VISIBLE) |
          ACCEL_CAP_CALLS_IN_CALLBACKS | OPTIONAL_GROUPS,
      .total_memory = options[MEMORY],
      .major = 8};
  all.uuid[15] = (unsigned char)number;
  memcpy(to, &all, to->struct_size < sizeof all ? to->struct_size : sizeof all);
  return ACCEL_OK;
}

static accel_status device_synchronize(int32_t number) {
  HAS_DEVICE(number);
  return answer(__func__, number, host_device_status(number, true));
}

static accel_status device_status(int32_t number) {
  HAS_DEVICE(number);
  return answer(__func__, number, host_device_fault(number));
}

/* A lost fake comes back here; a real device may answer ACCEL_DEVICE_LOST. */
static accel_status device_reset(int32_t number) {
  DEVICE(device, number);
  host_device_drain(number);
  LOCK;
  release(device, NULL);
  host_device_recover(number);
  return ACCEL_OK;
}

static accel_status memory_allocate(
    int32_t number,
    uint64_t bytes,
    uint64_t alignment,
    void** address) {
  DEVICE(device, number);
  NEED(number, bytes, bytes > 0);
  NEED(number, alignment, (alignment & (alignment - 1)) == 0);
  accel_status fault = host_device_fault(number);
  if (fault)
    return answer(__func__, number, fault);
  LOCK;
  uint64_t count = ++device->allocated, every = options[EVERY];
  uint64_t room = options[MEMORY] - device->used;
  uint64_t size = bytes > room ? bytes : whole_pages(bytes);
  bool ordered =
      count == options[OUT_OF_MEMORY] || (every && count % every == 0);
  struct allocation* made = malloc(sizeof *made);
  char* begin =
      made && !ordered && size <= room ? shared_map(size, alignment) : NULL;
  if (!begin) {
    free(made);
    FAIL(
        ACCEL_OUT_OF_MEMORY,
        "device %d: no %" PRIu64 " bytes; free are %" PRIu64 " of %" PRIu64,
        (int)number,
        bytes,
        room,
        options[MEMORY]);
  }
  *made = (struct allocation){device->allocations, begin, size, bytes};
  device->allocations = made;
  device->used += size;
  *address = given_out(begin);
  return ACCEL_OK;
}

static accel_status memory_free(int32_t number, void* address) {
  DEVICE(device, number);
  LOCK;
  if (!address || !release(device, address))
    FAIL(
        ACCEL_INVALID_ARGUMENT,
        "device %d: no memory begins at %p",
        (int)number,
        address);
  return ACCEL_OK;
}

static accel_status memory_info(
    int32_t number,
    uint64_t* free_bytes,
    uint64_t* total_bytes) {
  DEVICE(device, number);
  LOCK;
  *total_bytes = options[MEMORY];
  *free_bytes = options[MEMORY] - device->used;
  return ACCEL_OK;
}

static accel_status copy(accel_stream stream, const accel_copy* copy) {
  int32_t number = host_stream_device(stream);
  NEED_BOX(number, copy);
  int32_t to = copy->to_device, from = copy->from_device;
  HAS_DEVICE(to == ACCEL_HOST ? 0 : to);
  HAS_DEVICE(from == ACCEL_HOST ? 0 : from);
  return answer_put(
      __func__, host_stream_put(stream, do_copy, copy, sizeof *copy));
}

static accel_status fill(accel_stream stream, const accel_fill* fill) {
  int32_t number = host_stream_device(stream);
  uint32_t size = fill->element_size;
  NEED(number, size, size == 1 || size == 2 || size == 4);
  NEED_BOX(number, fill);
  NEED(number, (uintptr_t)fill->to, (uintptr_t)fill->to % size == 0);
  NEED(number, fill->pitch, fill->pitch % size == 0);
  NEED(number, fill->slice, fill->slice % size == 0);
  return answer_put(
      __func__, host_stream_put(stream, do_fill, fill, sizeof *fill));
}

static accel_status stream_create(
    int32_t number,
    int32_t priority,
    accel_stream* stream) {
  (void)priority;
  HAS_DEVICE(number);
  *stream = host_stream_create(number);
  if (!*stream)
    FAIL(ACCEL_OUT_OF_MEMORY, "no thread for device %d", (int)number);
  return ACCEL_OK;
}

static accel_status stream_destroy(accel_stream stream) {
  host_stream_destroy(stream);
  return ACCEL_OK;
}

static accel_status stream_query(accel_stream stream) {
  int32_t number = host_stream_device(stream);
  return answer(__func__, number, host_stream_status(stream, false));
}

static accel_status stream_synchronize(accel_stream stream) {
  int32_t number = host_stream_device(stream);
  return answer(__func__, number, host_stream_status(stream, true));
}

static accel_status stream_wait_event(accel_stream stream, accel_event event) {
  return answer_put(__func__, host_stream_wait_event(stream, event));
}

static accel_status stream_callback(
    accel_stream stream,
    accel_callback callback,
    void* data) {
  struct call call = {callback, data};
  return answer_put(
      __func__, host_stream_put(stream, do_call, &call, sizeof call));
}

static accel_status event_create(
    int32_t number,
    int32_t timing,
    accel_event* event) {
  (void)timing;
  HAS_DEVICE(number);
  *event = host_event_create(number);
  if (!*event)
    FAIL(ACCEL_OUT_OF_MEMORY, "no host memory for an event");
  return ACCEL_OK;
}

static accel_status event_destroy(accel_event event) {
  host_event_destroy(event);
  return ACCEL_OK;
}

static accel_status event_record(accel_event event, accel_stream stream) {
  int32_t number = host_stream_device(stream);
  NEED(event->device, number, number == event->device);
  host_event_record(event, stream);
  return ACCEL_OK;
}

static accel_status event_query(accel_event event) {
  int32_t number = event->device;
  return answer(__func__, number, host_event_status(event, false));
}

static accel_status event_synchronize(accel_event event) {
  int32_t number = event->device; /* the event may go while it is waited for */
  return answer(__func__, number, host_event_status(event, true));
}

#ifndef REQUIRED_ONLY

_Static_assert(
    sizeof(struct shared_name) == sizeof(accel_ipc_handle),
    "a handle is a name");

static accel_status ipc_export(void* address, accel_ipc_handle* handle) {
  LOCK;
  const struct allocation* found = NULL;
  for (int i = 0; i < MOST_DEVICES; ++i)
    for (struct allocation* at = devices[i].allocations; at; at = at->next)
      if (at->begin == seen(address))
        found = at;
  if (!address || !found)
    FAIL(ACCEL_INVALID_ARGUMENT, "no memory begins at %p", address);
  struct shared_name name;
  switch (shared_export(found->begin, found->size, found->bytes, &name)) {
    case SHARED_OK:
      memcpy(handle, &name, sizeof name);
      return ACCEL_OK;
    case SHARED_NOT:
      FAIL(ACCEL_NOT_SUPPORTED, "the host has no files in memory");
    default:
      FAIL(ACCEL_OUT_OF_MEMORY, "no host memory for a handle");
  }
}

static accel_status ipc_import(
    int32_t number,
    const accel_ipc_handle* handle,
    void** address,
    uint64_t* bytes) {
  HAS_DEVICE(number);
  struct shared_name name;
  memcpy(&name, handle, sizeof name);
  LOCK;
  struct allocation* made = malloc(sizeof *made);
  char* begin = NULL;
  enum shared_status status =
      made ? shared_import(&name, &begin) : SHARED_NO_ROOM;
  if (status == SHARED_OK) {
    *made = (struct allocation){
        imports, begin, whole_pages(name.bytes), name.bytes};
    imports = made;
    *address = given_out(begin);
    *bytes = name.bytes;
    return ACCEL_OK;
  }
  free(made);
  if (status == SHARED_ENDED)
    FAIL(ACCEL_OTHER_ENDED, "process %d has ended", (int)name.process);
  if (status == SHARED_NO_ROOM)
    FAIL(ACCEL_OUT_OF_MEMORY, "no host memory to map the other process's");
  FAIL(
      ACCEL_INVALID_ARGUMENT,
      "the handle names no memory of another process, or it is freed");
}

static accel_status ipc_close(void* address) {
  LOCK;
  if (!address || !let_go(address))
    FAIL(
        ACCEL_INVALID_ARGUMENT,
        "no memory of another process begins at %p",
        address);
  return ACCEL_OK;
}

#endif

static const accel_api api = {
    .struct_size = sizeof(accel_api),
    .abi_version = ACCEL_ABI_VERSION,
    .name = "fake",
    .last_error = last_error,
    .initialize = initialize,
    .finalize = finalize,
    .device_count = device_count,
    .device_properties = device_properties,
    .device_synchronize = device_synchronize,
    .device_status = device_status,
    .device_reset = device_reset,
    .memory_allocate = memory_allocate,
    .memory_free = memory_free,
    .memory_info = memory_info,
    .copy = copy,
    .fill = fill,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_query = stream_query,
    .stream_synchronize = stream_synchronize,
    .stream_wait_event = stream_wait_event,
    .stream_callback = stream_callback,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_query = event_query,
#ifndef REQUIRED_ONLY
    .ipc_export = ipc_export,
    .ipc_import = ipc_import,
    .ipc_close = ipc_close,
#endif
    .event_synchronize = event_synchronize};

const accel_api* accel_get_api(uint32_t runtime_version) {
  return runtime_version == ACCEL_ABI_VERSION ? &api : NULL;
}
