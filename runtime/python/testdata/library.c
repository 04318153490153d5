// A library of CUDA's that only says whose it is.
const char* whose_library(void) {
  return WHOSE;
}
