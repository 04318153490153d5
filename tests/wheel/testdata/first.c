/* A unit that is linked before sound.c, and whose constructors run before. */
#include <stdlib.h>

static char *kept;

__attribute__((constructor)) static void take(void) {
  kept = malloc(1);
}

__attribute__((constructor)) static void give_back(void) {
  free(kept);
}
