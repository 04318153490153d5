// A library that serves each CUDA and only says whose it is.
const char* whose_driver(void) {
  return "our_driver";
}
