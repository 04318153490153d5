// A program that says whose libraries it got.
#include <stdio.h>

const char* whose_library(void);

int main(void) {
  puts(whose_library());
  return 0;
}
