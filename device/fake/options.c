#include "device/fake/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t options[OPTIONS] = {[COUNT] = 1, [MEMORY] = UINT64_C(16) << 30};

static const struct {
  const char* key;
  uint64_t most;
} known[OPTIONS] = {
    [COUNT] = {"count", MOST_DEVICES},
    [MEMORY] = {"memory", UINT64_C(1) << 40},
    [OUT_OF_MEMORY] = {"out_of_memory", INT64_MAX},
    [EVERY] = {"every", INT64_MAX},
    [LOST] = {"lost", INT64_MAX},
    [SLOW] = {"slow", 60000},
    [HIDDEN] = {"hidden", 1}};

const char* parse_options(const char* text) {
  uint64_t values[OPTIONS];
  memcpy(values, options, sizeof values);
  for (const char* at = text; *at;) {
    char key[16] = "", digits[21] = "", unit[2] = "";
    const char* form = "%15[a-z_]=%20[0-9]%n%1[KMG]%n";
    int length = 0, i = 0;
    sscanf(at, form, key, digits, &length, unit, &length);
    while (i < OPTIONS && strcmp(key, known[i].key) != 0)
      ++i;
    uint64_t value = strtoumax(digits, NULL, 10);
    int shift = *unit == 'K' ? 10 : *unit == 'M' ? 20 : *unit ? 30 : 0;
    if (i == OPTIONS || value == 0 || value > known[i].most >> shift ||
        (shift != 0 && i != MEMORY) || (at[length] && at[length] != ','))
      return at;
    values[i] = value << shift;
    at += length + (at[length] == ',');
  }
  memcpy(options, values, sizeof values);
  return NULL;
}
