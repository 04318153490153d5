// The host half of answer.xpp. Of the same name, so their objects must not
// meet.

#ifdef ON_DEVICE
#error "a host source was given to the device's compiler"
#endif

int answer_of_host() {
  return HOST_ANSWER;
}
