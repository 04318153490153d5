#include "accelerator/backends/fake/streams.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "accelerator/backends/fake/options.h"

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
uint64_t last_ticket;

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* what is reached */
static accel_stream streams;
static bool stopping;

bool reached(const struct accel_event_object* event) {
  for (accel_stream at = streams; at; at = at->next)
    if (at->device == event->device && at->first &&
        (!event->stream || at == event->stream) &&
        at->first->ticket <= event->ticket)
      return false;
  return true;
}

void wait_until(const struct accel_event_object* event, bool or_fault) {
  while (!reached(event) && !(or_fault && event->device->fault))
    pthread_cond_wait(&changed, &lock);
}

static void do_copy(const accel_copy* copy) {
  if (options[SLOW])
    poll(NULL, 0, (int)options[SLOW]);
  for (uint64_t z = 0; z < copy->depth; ++z)
    for (uint64_t y = 0; y < copy->height; ++y)
      memmove(
          seen(copy->to) + z * copy->to_slice + y * copy->to_pitch,
          seen(copy->from) + z * copy->from_slice + y * copy->from_pitch,
          copy->width);
}

static void do_fill(const accel_fill* fill) {
  for (uint64_t z = 0; z < fill->depth; ++z)
    for (uint64_t y = 0; y < fill->height; ++y) {
      char* to = seen(fill->to) + z * fill->slice + y * fill->pitch;
      for (uint64_t x = 0; x < fill->width; ++x, to += fill->element_size)
        memcpy(to, &fill->value, fill->element_size); /* the low bytes */
    }
}

/* Called with the lock, which others get meanwhile. */
static void do_work(struct device* device, const struct work* work) {
  while (!reached(&work->mark) && !device->fault && !stopping)
    pthread_cond_wait(&changed, &lock);
  if (work->event || stopping)
    return;
  if (++device->pieces == options[LOST]) {
    device->fault = ACCEL_DEVICE_LOST;
    pthread_cond_broadcast(&changed);
  }
  bool lost = device->fault;
  pthread_mutex_unlock(&lock);
  if (work->callback) /* of a lost device, too: somebody may wait for it */
    work->callback(work->data);
  else if (!lost)
    work->fill.width ? do_fill(&work->fill) : do_copy(&work->copy);
  pthread_mutex_lock(&lock);
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

bool put(accel_stream stream, const struct work* work) {
  struct work* copy = malloc(sizeof *copy);
  if (!copy)
    return false;
  *copy = *work;
  copy->ticket = ++last_ticket;
  if (work->event)
    copy->mark = *work->event;
  *(stream->first ? &stream->last->next : &stream->first) = copy;
  stream->last = copy;
  pthread_cond_signal(&stream->given);
  return true;
}

bool start_stream(accel_stream stream) {
  pthread_t thread;
  pthread_cond_init(&stream->given, NULL);
  if (pthread_create(&thread, NULL, run, stream) != 0)
    return false;
  pthread_detach(thread);
  stream->next = streams;
  streams = stream;
  return true;
}

void end_stream(accel_stream stream) {
  stream->destroyed = true;
  pthread_cond_signal(&stream->given);
}

void end_all_streams(void) {
  stopping = true;
  for (accel_stream stream = streams; stream; stream = stream->next)
    pthread_cond_signal(&stream->given);
  pthread_cond_broadcast(&changed);
  while (streams)
    pthread_cond_wait(&changed, &lock);
}
