/*
 * The device "fake", the example of a library of the device ABI: its memory is
 * the host's, its streams are threads, and faults and latency come to order
 * (options.h). It has the required functions and no optional group. The
 * functions are in the order of device_api.h; how a stream does its work is in
 * streams.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "accelerator/abi/device_api.h"
#include "accelerator/backends/fake/options.h"
#include "accelerator/backends/fake/streams.h"

enum { PAGE = 4096 };

struct allocation {
  struct allocation* next;
  char* begin;
  uint64_t size; /* whole pages */
};

static struct device devices[MOST_DEVICES];

static void unlock(pthread_mutex_t** held) {
  pthread_mutex_unlock(*held);
}

/* Holds the lock from here to the end of the block. */
#define LOCK                                                      \
  __attribute__((cleanup(unlock))) pthread_mutex_t* held = &lock; \
  pthread_mutex_lock(held)

static _Thread_local char text[512] = "fake: no error";

#define SAY(...) snprintf(text, sizeof text, __VA_ARGS__)
/* Ends the function with a status and a text. */
#define FAIL_IN(function, status, format, ...) \
  return SAY("fake: %s: " format, function, __VA_ARGS__), (accel_status)(status)
#define FAIL(...) FAIL_IN(__func__, __VA_ARGS__)

/* Ends a function of a device when an argument is not as needed. */
#define NEED(device, argument, condition)           \
  if (!(condition))                                 \
  FAIL(                                             \
      ACCEL_INVALID_ARGUMENT,                       \
      "device %d: %s is %" PRIu64 ", needed is %s", \
      (int)((device)-devices),                      \
      #argument,                                    \
      (uint64_t)(argument),                         \
      #condition)

/* Ends the function when there is no device of that number. */
#define HAS_DEVICE(number)                                  \
  if ((number) < 0 || (uint64_t)(number) >= options[COUNT]) \
  FAIL(ACCEL_NO_DEVICE, "no device %d, see device_count", (int)(number))

/* The same, and declares it. */
#define DEVICE(name, number) \
  HAS_DEVICE(number);        \
  struct device* name = &devices[number]

/* Its fault, with the text, or ACCEL_OK. */
static accel_status fault_of(const char* function, struct device* device) {
  int fault = device->fault, number = (int)(device - devices);
  if (fault)
    FAIL_IN(function, fault, "device %d is lost until device_reset", number);
  return ACCEL_OK;
}

/* Whether work is done; with `wait`, once it is. Ticket UINT64_MAX: all. */
static accel_status ask(
    const char* function,
    struct accel_event_object* event,
    bool wait) {
  LOCK;
  struct accel_event_object mark = *event;
  if (mark.ticket == UINT64_MAX)
    mark.ticket = last_ticket;
  if (wait)
    wait_until(&mark, true);
  if (mark.device->fault)
    return fault_of(function, mark.device);
  return reached(&mark) ? ACCEL_OK : ACCEL_NOT_READY;
}

static accel_status ask_all(
    const char* function,
    struct device* of,
    accel_stream in,
    bool wait) {
  return ask(function, &(struct accel_event_object){of, in, UINT64_MAX}, wait);
}

static accel_status put_work(
    const char* function,
    accel_stream stream,
    struct work work) {
  LOCK;
  if (!put(stream, &work))
    FAIL_IN(function, ACCEL_OUT_OF_MEMORY, "no host memory for %s", "work");
  return ACCEL_OK;
}

/* Addresses that the system gives nobody by itself, a page apart and each taken
 * again late: what is used behind its end, or once freed, is not mapped. */
static char* map(uint64_t size, uint64_t alignment) {
  static const uintptr_t begin = 0x7e8000000000, end = 0x7ef000000000;
  static uintptr_t next;
  const int flags =
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  uintptr_t mask = (alignment > PAGE ? alignment : PAGE) - 1;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    uintptr_t at = ((next > begin ? next : begin) + mask) & ~mask;
    if (at < begin || at > end || size > end - at)
      at = (begin + mask) & ~mask;
    next = at + size + PAGE;
    int access = PROT_READ | PROT_WRITE;
    char* got = mmap((void*)at, size, access, flags, -1, 0);
    if (got != MAP_FAILED || errno != EEXIST)
      return got == MAP_FAILED ? NULL : got;
  }
  return NULL;
}

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
    munmap(at->begin, at->size);
    free(at);
  }
  return found;
}

/* ---- The functions ---- */

static const char* last_error(void) {
  return text;
}

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
  LOCK;
  end_all_streams();
  for (int i = 0; i < MOST_DEVICES; ++i)
    release(&devices[i], NULL);
  return ACCEL_OK;
}

static accel_status device_count(int32_t* count) {
  *count = (int32_t)options[COUNT];
  return ACCEL_OK;
}

static accel_status device_properties(int32_t number, accel_properties* to) {
  DEVICE(device, number);
  accel_properties all = {
      .struct_size = to->struct_size,
      .name = "Fake device",
      .uuid = "accel fake",
      .capabilities = (options[HIDDEN] ? 0 : ACCEL_CAP_HOST_VISIBLE) |
          ACCEL_CAP_CALLS_IN_CALLBACKS,
      .total_memory = options[MEMORY],
      .major = 8};
  all.uuid[15] = (unsigned char)(device - devices);
  memcpy(to, &all, to->struct_size < sizeof all ? to->struct_size : sizeof all);
  return ACCEL_OK;
}

static accel_status device_synchronize(int32_t number) {
  DEVICE(device, number);
  return ask_all(__func__, device, NULL, true);
}

static accel_status device_status(int32_t number) {
  DEVICE(device, number);
  return fault_of(__func__, device);
}

/* A lost fake comes back here; a real device may answer ACCEL_DEVICE_LOST. */
static accel_status device_reset(int32_t number) {
  DEVICE(device, number);
  LOCK;
  wait_until(&(struct accel_event_object){device, NULL, last_ticket}, false);
  release(device, NULL);
  device->fault = ACCEL_OK;
  return ACCEL_OK;
}

static accel_status memory_allocate(
    int32_t number,
    uint64_t bytes,
    uint64_t alignment,
    void** address) {
  DEVICE(device, number);
  NEED(device, bytes, bytes > 0);
  NEED(device, alignment, (alignment & (alignment - 1)) == 0);
  if (device->fault)
    return fault_of(__func__, device);
  LOCK;
  uint64_t count = ++device->allocated, every = options[EVERY];
  uint64_t room = options[MEMORY] - device->used;
  uint64_t size = bytes > room ? bytes : (bytes + PAGE - 1) / PAGE * PAGE;
  bool ordered =
      count == options[OUT_OF_MEMORY] || (every && count % every == 0);
  struct allocation* made = malloc(sizeof *made);
  char* begin = made && !ordered && size <= room ? map(size, alignment) : NULL;
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
  *made = (struct allocation){device->allocations, begin, size};
  device->allocations = made;
  device->used += size;
  *address = (void*)((uintptr_t)begin | (options[HIDDEN] ? hidden_by : 0));
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
  NEED(stream->device, copy->width, copy->width > 0);
  NEED(stream->device, copy->height, copy->height > 0);
  NEED(stream->device, copy->depth, copy->depth > 0);
  int32_t to = copy->to_device, from = copy->from_device;
  HAS_DEVICE(to == ACCEL_HOST ? 0 : to);
  HAS_DEVICE(from == ACCEL_HOST ? 0 : from);
  return put_work(__func__, stream, (struct work){.copy = *copy});
}

static accel_status fill(accel_stream stream, const accel_fill* fill) {
  uint32_t size = fill->element_size;
  NEED(stream->device, size, size == 1 || size == 2 || size == 4);
  NEED(stream->device, fill->width, fill->width > 0);
  NEED(stream->device, fill->height, fill->height > 0);
  NEED(stream->device, fill->depth, fill->depth > 0);
  NEED(stream->device, (uintptr_t)fill->to, (uintptr_t)fill->to % size == 0);
  NEED(stream->device, fill->pitch, fill->pitch % size == 0);
  NEED(stream->device, fill->slice, fill->slice % size == 0);
  return put_work(__func__, stream, (struct work){.fill = *fill});
}

static accel_status stream_create(
    int32_t number,
    int32_t priority,
    accel_stream* stream) {
  (void)priority;
  DEVICE(device, number);
  LOCK;
  accel_stream made = calloc(1, sizeof *made);
  if (made)
    made->device = device;
  if (!made || !start_stream(made)) {
    free(made);
    FAIL(ACCEL_OUT_OF_MEMORY, "no thread for device %d", (int)number);
  }
  *stream = made;
  return ACCEL_OK;
}

static accel_status stream_destroy(accel_stream stream) {
  LOCK;
  end_stream(stream);
  return ACCEL_OK;
}

static accel_status stream_query(accel_stream stream) {
  return ask_all(__func__, stream->device, stream, false);
}

static accel_status stream_synchronize(accel_stream stream) {
  return ask_all(__func__, stream->device, stream, true);
}

static accel_status stream_wait_event(accel_stream stream, accel_event event) {
  return put_work(__func__, stream, (struct work){.event = event});
}

static accel_status stream_callback(
    accel_stream stream,
    accel_callback callback,
    void* data) {
  struct work work = {.callback = callback, .data = data};
  return put_work(__func__, stream, work);
}

static accel_status event_create(
    int32_t number,
    int32_t timing,
    accel_event* event) {
  (void)timing;
  DEVICE(device, number);
  accel_event made = calloc(1, sizeof *made);
  if (!made)
    FAIL(ACCEL_OUT_OF_MEMORY, "no host memory for %s", "an event");
  made->device = device;
  *event = made;
  return ACCEL_OK;
}

static accel_status event_destroy(accel_event event) {
  free(event);
  return ACCEL_OK;
}

static accel_status event_record(accel_event event, accel_stream stream) {
  NEED(event->device, stream->device - devices, stream->device == event->device);
  LOCK;
  event->stream = stream;
  event->ticket = last_ticket;
  return ACCEL_OK;
}

static accel_status event_query(accel_event event) {
  return ask(__func__, event, false);
}

static accel_status event_synchronize(accel_event event) {
  return ask(__func__, event, true);
}

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
    .event_synchronize = event_synchronize};

const accel_api* accel_get_api(uint32_t runtime_version) {
  return runtime_version == ACCEL_ABI_VERSION ? &api : NULL;
}
