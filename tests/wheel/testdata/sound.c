/* A library whose link is closed: it needs the C library only. */
#include <stdlib.h>

int torch_cuda_test_sound(const char *text) {
  return atoi(text);
}
