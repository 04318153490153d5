/* What the fake device is ordered to be, and the faults that it is to have. */
#ifndef ACCELERATOR_BACKENDS_FAKE_OPTIONS_H_
#define ACCELERATOR_BACKENDS_FAKE_OPTIONS_H_

#include <stdint.h>

#include "device/host_streams/host_streams.h"

enum { MOST_DEVICES = MOST_HOST_DEVICES };

/* Numbers from 1 on; those without a default are 0 until they are given. */
enum {
  COUNT, /* count=N: devices (1) */
  MEMORY, /* memory=BYTES of each, with K, M or G behind it or not (16G) */
  OUT_OF_MEMORY, /* out_of_memory=N: the Nth allocation of each device fails */
  EVERY, /* every=N: each Nth allocation of each device fails */
  LOST, /* lost=N: each device is lost at its Nth copy, fill or callback */
  SLOW, /* slow=N: each copy takes N milliseconds longer */
  HIDDEN, /* hidden=1: the host does not see device memory */
  OPTIONS
};
#define ALL_OPTIONS                                                      \
  "count=1 to 64, memory=1 to 1024G, out_of_memory=N, every=N, lost=N, " \
  "slow=1 to 60000, hidden=1"

extern uint64_t options[OPTIONS];

/* Takes over KEY=VALUE pairs with commas between them, or none of them: then it
 * gives the place of the first one that is not known, else null. */
const char* parse_options(const char* text);

#endif /* ACCELERATOR_BACKENDS_FAKE_OPTIONS_H_ */
