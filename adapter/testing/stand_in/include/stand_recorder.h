/**
 * @file
 * Who is told what is put into streams, so that it can be put into one again:
 * graphs.
 */
#ifndef STAND_RECORDER_H_
#define STAND_RECORDER_H_

#include "stand_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Work that was put into a stream: a copy, a fill, a kernel or a function of
 * the host. Events are no work. */
typedef struct standRecord {
  int device; /**< of the stream */
  void* work; /**< for both functions */
  /** Puts it into a stream of that device, as often as it is called. */
  standError_t (*again)(void* work, standStream_t stream);
  void (*destroy)(void* work); /**< called by who was told */
} standRecord;

/** Has a function called for all work that is put into streams from here on,
 * on the thread that puts it; null: nobody is told any more. */
standError_t standSetRecorder(
    void (*recorder)(void* data, const standRecord* record),
    void* data);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* STAND_RECORDER_H_ */
