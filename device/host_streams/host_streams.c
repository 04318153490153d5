/* Streams that are threads, and the marks in them. */
#include "device/host_streams/host_streams.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct work {
  struct work* next;
  uint64_t ticket;
  host_work function; /* null: waits for `mark` */
  struct accel_event_object mark;
  _Alignas(16) char argument[];
};

struct accel_stream_object {
  accel_stream next;
  int32_t device;
  struct work *first, *last; /* the first one is being done */
  pthread_cond_t given; /* signalled when the thread has something to do */
  bool destroyed;
};

/* It guards all that follows; faults are read without it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* what is reached */
static accel_stream streams;
static uint64_t last_ticket; /* that was given to work */
static bool stopping;
static atomic_int faults[MOST_HOST_DEVICES];

/* ---- What is reached; all with the lock ---- */

static bool reached(const struct accel_event_object* mark) {
  for (accel_stream at = streams; at; at = at->next)
    if ((mark->stream ? at == mark->stream : at->device == mark->device) &&
        at->first && at->first->ticket <= mark->ticket)
      return false;
  return true;
}

static void wait_for(const struct accel_event_object* mark, bool or_fault) {
  while (!reached(mark) && !(or_fault && faults[mark->device]))
    pthread_cond_wait(&changed, &lock);
}

static accel_status status_of(struct accel_event_object mark, bool wait) {
  if (wait)
    wait_for(&mark, true);
  if (faults[mark.device])
    return host_device_fault(mark.device);
  return reached(&mark) ? ACCEL_OK : ACCEL_NOT_READY;
}

/* ---- Work ---- */

/* Called with the lock, which others get meanwhile. */
static void do_work(int32_t device, struct work* work) {
  if (work->function) {
    pthread_mutex_unlock(&lock);
    work->function(device, work->argument);
    pthread_mutex_lock(&lock);
  }
  while (!work->function && !reached(&work->mark) && !faults[device] &&
         !stopping)
    pthread_cond_wait(&changed, &lock);
}

static void* run(void* argument) {
  accel_stream stream = argument;
  pthread_mutex_lock(&lock);
  while (stream->first || (!stream->destroyed && !stopping)) {
    struct work* work = stream->first;
    if (!work) {
      pthread_cond_wait(&stream->given, &lock);
      continue;
    }
    if (!stopping)
      do_work(stream->device, work);
    stream->first = work->next;
    free(work);
    pthread_cond_broadcast(&changed);
  }
  accel_stream* link = &streams;
  while (*link != stream)
    link = &(*link)->next;
  *link = stream->next;
  pthread_cond_destroy(&stream->given);
  free(stream);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return NULL;
}

static struct work* make_work(const void* argument, size_t bytes) {
  struct work* made = calloc(1, sizeof *made + bytes);
  if (made && bytes)
    memcpy(made->argument, argument, bytes);
  return made;
}

/* Takes the work over; with the lock. */
static void append(accel_stream stream, struct work* work) {
  work->ticket = ++last_ticket;
  *(stream->first ? &stream->last->next : &stream->first) = work;
  stream->last = work;
  pthread_cond_signal(&stream->given);
}

bool host_stream_put(
    accel_stream stream,
    host_work work,
    const void* argument,
    size_t bytes) {
  struct work* made = make_work(argument, bytes);
  if (!made)
    return false;
  made->function = work;
  pthread_mutex_lock(&lock);
  append(stream, made);
  pthread_mutex_unlock(&lock);
  return true;
}

bool host_stream_wait_event(accel_stream stream, accel_event event) {
  struct work* made = make_work(NULL, 0);
  if (!made)
    return false;
  pthread_mutex_lock(&lock);
  made->mark = *event;
  append(stream, made);
  pthread_mutex_unlock(&lock);
  return true;
}

/* ---- Streams ---- */

accel_stream host_stream_create(int32_t device) {
  pthread_t thread;
  const bool known = device >= 0 && device < MOST_HOST_DEVICES;
  accel_stream made = known ? calloc(1, sizeof *made) : NULL;
  if (!made)
    return NULL;
  made->device = device;
  pthread_cond_init(&made->given, NULL);
  pthread_mutex_lock(&lock);
  if (pthread_create(&thread, NULL, run, made) == 0) {
    pthread_detach(thread);
    made->next = streams;
    streams = made;
  } else {
    pthread_cond_destroy(&made->given);
    free(made);
    made = NULL;
  }
  pthread_mutex_unlock(&lock);
  return made;
}

void host_stream_destroy(accel_stream stream) {
  pthread_mutex_lock(&lock);
  stream->destroyed = true;
  pthread_cond_signal(&stream->given);
  pthread_mutex_unlock(&lock);
}

int32_t host_stream_device(accel_stream stream) {
  return stream->device;
}

/* All work of a stream, or (null) of all, until now; with the lock. */
static struct accel_event_object all_of(int32_t device, accel_stream stream) {
  return (struct accel_event_object){device, stream, last_ticket};
}

accel_status host_stream_status(accel_stream stream, bool wait) {
  pthread_mutex_lock(&lock);
  accel_status status = status_of(all_of(stream->device, stream), wait);
  pthread_mutex_unlock(&lock);
  return status;
}

void host_streams_finalize(void) {
  pthread_mutex_lock(&lock);
  stopping = true;
  for (accel_stream stream = streams; stream; stream = stream->next)
    pthread_cond_signal(&stream->given);
  pthread_cond_broadcast(&changed);
  while (streams)
    pthread_cond_wait(&changed, &lock);
  stopping = false;
  pthread_mutex_unlock(&lock);
}

/* ---- Events ---- */

accel_event host_event_create(int32_t device) {
  accel_event made = calloc(1, sizeof *made);
  if (made)
    made->device = device;
  return made;
}

void host_event_destroy(accel_event event) {
  pthread_mutex_lock(&lock); /* behind those who have begun to look at it */
  free(event);
  pthread_mutex_unlock(&lock);
}

void host_event_record(accel_event event, accel_stream stream) {
  pthread_mutex_lock(&lock);
  event->stream = stream;
  event->ticket = last_ticket;
  pthread_mutex_unlock(&lock);
}

accel_status host_event_status(accel_event event, bool wait) {
  pthread_mutex_lock(&lock);
  accel_status status = status_of(*event, wait);
  pthread_mutex_unlock(&lock);
  return status;
}

/* ---- Devices ---- */

accel_status host_device_status(int32_t device, bool wait) {
  pthread_mutex_lock(&lock);
  accel_status status = status_of(all_of(device, NULL), wait);
  pthread_mutex_unlock(&lock);
  return status;
}

void host_device_fail(int32_t device, accel_status fault) {
  pthread_mutex_lock(&lock);
  if (!faults[device])
    faults[device] = (int)fault;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

accel_status host_device_fault(int32_t device) {
  return (accel_status)faults[device];
}

void host_device_drain(int32_t device) {
  pthread_mutex_lock(&lock);
  struct accel_event_object all = all_of(device, NULL);
  wait_for(&all, false);
  pthread_mutex_unlock(&lock);
}

void host_device_recover(int32_t device) {
  pthread_mutex_lock(&lock);
  faults[device] = ACCEL_OK;
  pthread_mutex_unlock(&lock);
}
