// A fake driver library with only the first functions that Winnow calls. The environment sets its
// version and the result of cuInit. Without them the driver is new, and it sees a GPU unless
// CUDA_VISIBLE_DEVICES names none.
#include <cstdlib>

namespace {

int number_in(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

int count_gpus() {
  constexpr int kNoDevice = 100; // CUDA_ERROR_NO_DEVICE
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible == nullptr || *visible != 0 ? 0 : kNoDevice;
}

} // namespace

extern "C" int cuDriverGetVersion(int* version) {
  *version = number_in("WINNOW_TEST_CUDA_VERSION", 13000);
  return 0;
}

extern "C" int cuInit(unsigned /*flags*/) {
  return number_in("WINNOW_TEST_CUDA_INIT", count_gpus());
}
