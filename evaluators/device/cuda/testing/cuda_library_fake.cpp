// A fake driver library with only the first functions that Winnow calls. The environment sets its
// version and the result of cuInit. cuInit answers come from the environment.
#include <cstdlib>

namespace {

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : 0;
}

} // namespace

extern "C" int cuDriverGetVersion(int* version) {
  *version = number_in("WINNOW_TEST_CUDA_VERSION");
  return 0;
}

extern "C" int cuInit(unsigned /*flags*/) {
  return number_in("WINNOW_TEST_CUDA_INIT");
}
