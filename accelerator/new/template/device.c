/*
 * The device "acme": a library of the device ABI with the required functions
 * and no optional group. As it comes, the device is the host: its memory is the
 * process's, and each stream is a thread that does its work in order. Take the
 * bodies out one by one and put the device's driver in their place; the
 * contract tests (BUILD.bazel) say whether it still is what the ABI asks for.
 *
 * device_api.h says what each function has to do.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accelerator/abi/device_api.h"

#define MEMORY (UINT64_C(16) << 30) /* bytes that the device has */

/* ---- State: all of it is guarded by `lock` ---- */

struct allocation {
  struct allocation* next;
  void* begin;
  uint64_t bytes;
};

struct work { /* one of the first four; the others are zero */
  accel_copy copy;
  accel_fill fill;
  accel_callback callback;
  uint64_t wait_for; /* a ticket, of the stream below or (null) of any */
  accel_stream wait_in;
  void* data; /* the callback's */
  uint64_t ticket;
  struct work* next;
};

struct accel_stream_object {
  accel_stream next;
  struct work *first, *last; /* the first one is being done */
  bool destroyed;
};

struct accel_event_object { /* a stream's work up to a ticket */
  accel_stream stream;
  uint64_t ticket;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct allocation* allocations;
static uint64_t used; /* bytes */
static accel_stream streams;
static uint64_t last_ticket; /* tickets begin at 1 and count up */
static bool stopping;

/* ---- Errors ---- */

static _Thread_local char text[256] = "acme: no error";

/* Ends the function with a status and a text. */
#define FAIL(status, ...)                                             \
  do {                                                                \
    int length = snprintf(text, sizeof text, "acme: %s: ", __func__); \
    snprintf(text + length, sizeof text - length, __VA_ARGS__);       \
    return status;                                                    \
  } while (0)

#define NEED_DEVICE(number) \
  if ((number) != 0)        \
  FAIL(ACCEL_NO_DEVICE, "no device %d, there is 0", (int)(number))

#define NEED(value, condition)                     \
  if (!(condition))                                \
  FAIL(                                            \
      ACCEL_INVALID_ARGUMENT,                      \
      "device 0: %s is %" PRIu64 ", needed is %s", \
      #value,                                      \
      (uint64_t)(value),                           \
      #condition)

static void unlock(pthread_mutex_t** held) {
  pthread_mutex_unlock(*held);
}

/* Holds the lock from here to the end of the block. */
#define LOCK                                                      \
  __attribute__((cleanup(unlock))) pthread_mutex_t* held = &lock; \
  pthread_mutex_lock(held)

static const char* last_error(void) {
  return text;
}

/* ---- The library and its device ---- */

static accel_status initialize(const char* options) {
  if (*options)
    FAIL(ACCEL_INVALID_ARGUMENT, "option %s: there are none", options);
  return ACCEL_OK;
}

static accel_status device_count(int32_t* count) {
  *count = 1;
  return ACCEL_OK;
}

static accel_status device_properties(int32_t device, accel_properties* to) {
  NEED_DEVICE(device);
  const accel_properties all = {
      .struct_size = to->struct_size,
      .name = "acme",
      .uuid = "accel acme",
      /* The host sees its memory, so that the CPU's kernels serve what has no
       * kernel of its own. */
      .capabilities = ACCEL_CAP_HOST_VISIBLE | ACCEL_CAP_CALLS_IN_CALLBACKS,
      .total_memory = MEMORY,
      .major = 8};
  memcpy(to, &all, to->struct_size < sizeof all ? to->struct_size : sizeof all);
  return ACCEL_OK;
}

static accel_status device_status(int32_t device) {
  NEED_DEVICE(device);
  return ACCEL_OK;
}

/* ---- Work ---- */

/* Whether the work of a stream, or (null) of all, is done up to a ticket. */
static bool is_done(accel_stream in, uint64_t ticket) {
  for (accel_stream at = streams; at; at = at->next)
    if ((!in || at == in) && at->first && at->first->ticket <= ticket)
      return false;
  return true;
}

static void wait_until_done(accel_stream in, uint64_t ticket) {
  while (!is_done(in, ticket))
    pthread_cond_wait(&changed, &lock);
}

static void do_copy(const accel_copy* copy) {
  for (uint64_t z = 0; z < copy->depth; ++z)
    for (uint64_t y = 0; y < copy->height; ++y)
      memmove(
          (char*)copy->to + z * copy->to_slice + y * copy->to_pitch,
          (const char*)copy->from + z * copy->from_slice + y * copy->from_pitch,
          copy->width);
}

static void do_fill(const accel_fill* fill) {
  for (uint64_t z = 0; z < fill->depth; ++z)
    for (uint64_t y = 0; y < fill->height; ++y) {
      char* to = (char*)fill->to + z * fill->slice + y * fill->pitch;
      for (uint64_t x = 0; x < fill->width; ++x, to += fill->element_size)
        memcpy(to, &fill->value, fill->element_size); /* the low bytes */
    }
}

/* A stream's thread. */
static void* run(void* argument) {
  accel_stream stream = argument;
  pthread_mutex_lock(&lock);
  while (stream->first || (!stream->destroyed && !stopping)) {
    struct work* work = stream->first;
    if (!work) {
      pthread_cond_wait(&changed, &lock);
      continue;
    }
    while (work->wait_for && !is_done(work->wait_in, work->wait_for) &&
           !stopping)
      pthread_cond_wait(&changed, &lock);
    if (!stopping) {
      pthread_mutex_unlock(&lock);
      if (work->callback)
        work->callback(work->data);
      else if (work->copy.width)
        do_copy(&work->copy);
      else if (work->fill.width)
        do_fill(&work->fill);
      pthread_mutex_lock(&lock);
    }
    stream->first = work->next;
    free(work);
    pthread_cond_broadcast(&changed);
  }
  accel_stream* link = &streams;
  while (*link != stream)
    link = &(*link)->next;
  *link = stream->next;
  free(stream);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return NULL;
}

/* Puts a copy of it behind all other work of the stream. */
static accel_status put(accel_stream stream, struct work work) {
  LOCK;
  struct work* made = malloc(sizeof *made);
  if (!made)
    FAIL(ACCEL_OUT_OF_MEMORY, "no memory of the host for work");
  *made = work;
  made->ticket = ++last_ticket;
  *(stream->first ? &stream->last->next : &stream->first) = made;
  stream->last = made;
  pthread_cond_broadcast(&changed);
  return ACCEL_OK;
}

static accel_status copy(accel_stream stream, const accel_copy* copy) {
  NEED(copy->width, copy->width > 0);
  NEED(copy->height, copy->height > 0);
  NEED(copy->depth, copy->depth > 0);
  NEED_DEVICE(copy->to_device == ACCEL_HOST ? 0 : copy->to_device);
  NEED_DEVICE(copy->from_device == ACCEL_HOST ? 0 : copy->from_device);
  return put(stream, (struct work){.copy = *copy});
}

static accel_status fill(accel_stream stream, const accel_fill* fill) {
  const uint32_t size = fill->element_size;
  NEED(size, size == 1 || size == 2 || size == 4);
  NEED(fill->width, fill->width > 0);
  NEED(fill->height, fill->height > 0);
  NEED(fill->depth, fill->depth > 0);
  NEED((uintptr_t)fill->to, (uintptr_t)fill->to % size == 0);
  NEED(fill->pitch, fill->pitch % size == 0);
  NEED(fill->slice, fill->slice % size == 0);
  return put(stream, (struct work){.fill = *fill});
}

static accel_status stream_callback(
    accel_stream stream,
    accel_callback callback,
    void* data) {
  return put(stream, (struct work){.callback = callback, .data = data});
}

static accel_status device_synchronize(int32_t device) {
  NEED_DEVICE(device);
  LOCK;
  wait_until_done(NULL, last_ticket);
  return ACCEL_OK;
}

/* ---- Memory ---- */

/* Frees the allocation at an address, or (null) all; false: there is none. */
static bool release(const void* only) {
  bool found = false;
  for (struct allocation **link = &allocations, *at; (at = *link);) {
    if (only && at->begin != only) {
      link = &at->next;
      continue;
    }
    found = true;
    *link = at->next;
    used -= at->bytes;
    free(at->begin);
    free(at);
  }
  return found;
}

static accel_status memory_allocate(
    int32_t device,
    uint64_t bytes,
    uint64_t alignment,
    void** address) {
  NEED_DEVICE(device);
  NEED(bytes, bytes > 0);
  NEED(alignment, (alignment & (alignment - 1)) == 0);
  LOCK;
  struct allocation* made = malloc(sizeof *made);
  void* begin = NULL;
  if (!made || bytes > MEMORY - used ||
      posix_memalign(&begin, alignment > 256 ? alignment : 256, bytes) != 0) {
    free(made);
    FAIL(
        ACCEL_OUT_OF_MEMORY,
        "device 0: no %" PRIu64 " bytes; free are %" PRIu64,
        bytes,
        MEMORY - used);
  }
  *made = (struct allocation){allocations, begin, bytes};
  allocations = made;
  used += bytes;
  *address = begin;
  return ACCEL_OK;
}

static accel_status memory_free(int32_t device, void* address) {
  NEED_DEVICE(device);
  LOCK;
  if (!address || !release(address))
    FAIL(ACCEL_INVALID_ARGUMENT, "device 0: no memory begins at %p", address);
  return ACCEL_OK;
}

static accel_status memory_info(
    int32_t device,
    uint64_t* free_bytes,
    uint64_t* total_bytes) {
  NEED_DEVICE(device);
  LOCK;
  *free_bytes = MEMORY - used;
  *total_bytes = MEMORY;
  return ACCEL_OK;
}

static accel_status device_reset(int32_t device) {
  NEED_DEVICE(device);
  LOCK;
  wait_until_done(NULL, last_ticket);
  release(NULL);
  return ACCEL_OK;
}

/* ---- Streams ---- */

static accel_status stream_create(
    int32_t device,
    int32_t priority,
    accel_stream* stream) {
  (void)priority;
  NEED_DEVICE(device);
  LOCK;
  pthread_t thread;
  accel_stream made = calloc(1, sizeof *made);
  if (!made || pthread_create(&thread, NULL, run, made) != 0) {
    free(made);
    FAIL(ACCEL_OUT_OF_MEMORY, "no thread for device 0");
  }
  pthread_detach(thread);
  made->next = streams;
  streams = made;
  *stream = made;
  return ACCEL_OK;
}

static accel_status stream_destroy(accel_stream stream) {
  LOCK;
  stream->destroyed = true;
  pthread_cond_broadcast(&changed);
  return ACCEL_OK;
}

static accel_status stream_query(accel_stream stream) {
  LOCK;
  return is_done(stream, last_ticket) ? ACCEL_OK : ACCEL_NOT_READY;
}

static accel_status stream_synchronize(accel_stream stream) {
  LOCK;
  wait_until_done(stream, last_ticket);
  return ACCEL_OK;
}

static accel_status stream_wait_event(accel_stream stream, accel_event event) {
  pthread_mutex_lock(&lock);
  const struct accel_event_object mark = *event;
  pthread_mutex_unlock(&lock);
  return put(
      stream, (struct work){.wait_for = mark.ticket, .wait_in = mark.stream});
}

/* ---- Events ---- */

static accel_status event_create(
    int32_t device,
    int32_t timing,
    accel_event* event) {
  (void)timing;
  NEED_DEVICE(device);
  accel_event made = calloc(1, sizeof *made);
  if (!made)
    FAIL(ACCEL_OUT_OF_MEMORY, "no memory of the host for an event");
  *event = made;
  return ACCEL_OK;
}

static accel_status event_destroy(accel_event event) {
  free(event);
  return ACCEL_OK;
}

static accel_status event_record(accel_event event, accel_stream stream) {
  LOCK;
  event->stream = stream;
  event->ticket = last_ticket;
  return ACCEL_OK;
}

static accel_status event_query(accel_event event) {
  LOCK;
  return is_done(event->stream, event->ticket) ? ACCEL_OK : ACCEL_NOT_READY;
}

static accel_status event_synchronize(accel_event event) {
  LOCK;
  wait_until_done(event->stream, event->ticket);
  return ACCEL_OK;
}

/* ---- The struct ---- */

static accel_status finalize(void) {
  LOCK;
  stopping = true;
  pthread_cond_broadcast(&changed);
  while (streams)
    pthread_cond_wait(&changed, &lock);
  release(NULL);
  return ACCEL_OK;
}

static const accel_api api = {
    .struct_size = sizeof(accel_api),
    .abi_version = ACCEL_ABI_VERSION,
    .name = "acme",
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
