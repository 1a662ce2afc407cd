#include "evaluators/device/cuda/cuda_library.h"

#if __has_include(<cufft.h>)

#include <cstdint>
#include <map>
#include <tuple>

#include <cufft.h>
#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

#define WINNOW_CUFFT_FUNCTIONS(X)                                                                  \
  X(cufftCreate)                                                                                   \
  X(cufftDestroy)                                                                                  \
  X(cufftExecC2C)                                                                                  \
  X(cufftMakePlanMany64)                                                                           \
  X(cufftSetAutoAllocation)                                                                        \
  X(cufftSetStream)                                                                                \
  X(cufftSetWorkArea)

WINNOW_CUDA_LIBRARY(CufftFunctions, cufft, WINNOW_CUFFT_FUNCTIONS, "libcufft",
                    "cuFFT is not installed here; it comes with the CUDA toolkit (libcufft)",
                    "libcufft.so.12", "libcufft.so.11")

void check_cufft(cufftResult result, const char* call) {
  if (result != CUFFT_SUCCESS) {
    refuse_library(
        call, fmt::format("cufftResult {}", static_cast<int>(result)),
        "cufft.h lists the results: 2 is a lack of memory, 8 a length that cuFFT does not take");
  }
}

/// `batch` transforms of n interleaved complex numbers each, row by row.
class FftPlan {
public:
  FftPlan(GpuDriver& driver, const tasks::LibraryStep& step) : workspace_(driver) {
    check_cufft(cufft().cufftCreate(&plan_), "cufftCreate");
    try {
      make(driver, step);
    } catch (...) {
      cufft().cufftDestroy(plan_);
      throw;
    }
  }
  ~FftPlan() { cufft().cufftDestroy(plan_); }
  FftPlan(const FftPlan&) = delete; // owns the plan
  FftPlan& operator=(const FftPlan&) = delete;

  void queue(GpuAddress from, GpuAddress to, bool inverse) {
    check_cufft(cufft().cufftExecC2C(plan_, reinterpret_cast<cufftComplex*>(from),
                                     reinterpret_cast<cufftComplex*>(to),
                                     inverse ? CUFFT_INVERSE : CUFFT_FORWARD),
                "cufftExecC2C");
  }

private:
  void make(GpuDriver& driver, const tasks::LibraryStep& step) {
    long long length = step.n;
    std::size_t bytes = 0;
    check_cufft(cufft().cufftSetAutoAllocation(plan_, 0), "cufftSetAutoAllocation");
    check_cufft(cufft().cufftMakePlanMany64(plan_, 1, &length, nullptr, 1, length, nullptr, 1,
                                            length, CUFFT_C2C, step.batch, &bytes),
                "cufftMakePlanMany64");
    check_cufft(cufft().cufftSetWorkArea(plan_, workspace_.get(bytes)), "cufftSetWorkArea");
    check_cufft(cufft().cufftSetStream(plan_, reinterpret_cast<cudaStream_t>(driver.stream())),
                "cufftSetStream");
  }

  LibraryWorkspace workspace_;
  cufftHandle plan_ = 0;
};

class Cufft final : public GpuLibrary {
public:
  explicit Cufft(GpuDriver& driver) : driver_(driver) { cufft(); }

  void queue(const tasks::LibraryStep& step, std::span<const GpuAddress> operands) override {
    const Key key{step.n, step.batch, driver_.stream()};
    plans_.try_emplace(key, driver_, step)
        .first->second.queue(operands[0], operands[1], step.inverse);
  }

private:
  using Key = std::tuple<std::int64_t, std::int64_t, std::uintptr_t>;

  GpuDriver& driver_;
  std::map<Key, FftPlan> plans_;
};

} // namespace

std::unique_ptr<GpuLibrary> open_cufft(GpuDriver& driver) {
  return std::make_unique<Cufft>(driver);
}

} // namespace winnow::evaluators

#else

namespace winnow::evaluators {

std::unique_ptr<GpuLibrary> open_cufft(GpuDriver& /*driver*/) {
  refuse_library("open", "cufft", "this program was built without cufft.h");
}

} // namespace winnow::evaluators

#endif
