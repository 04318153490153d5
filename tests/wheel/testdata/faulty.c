/* A library that calls a function which nobody defines. */
#include <stdlib.h>

int torch_cuda_test_missing(int number);
int torch_cuda_test_sound(const char *text);

int torch_cuda_test_faulty(const char *text) {
  return torch_cuda_test_missing(abs(torch_cuda_test_sound(text)));
}
