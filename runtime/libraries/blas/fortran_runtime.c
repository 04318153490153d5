// The two functions of gfortran's runtime that OpenBLAS's LAPACK refers to, for
// its error messages and a timer. With them the library needs no libgfortran.
#include <stddef.h>
#include <string.h>
#include <sys/times.h>
#include <unistd.h>

void _gfortran_concat_string(
    size_t length,
    char* result,
    size_t first_length,
    const char* first,
    size_t second_length,
    const char* second) {
  size_t taken = first_length < length ? first_length : length;
  memcpy(result, first, taken);
  size_t rest = length - taken;
  size_t more = second_length < rest ? second_length : rest;
  memcpy(result + taken, second, more);
  memset(result + taken + more, ' ', rest - more);
}

void _gfortran_etime(float values[2], float* result) {
  struct tms spent;
  const float ticks = (float)sysconf(_SC_CLK_TCK);
  times(&spent);
  values[0] = (float)spent.tms_utime / ticks;
  values[1] = (float)spent.tms_stime / ticks;
  *result = values[0] + values[1];
}
