// Needs an NVIDIA GPU and libcufft.
#include "evaluators/device/cuda/cuda_library_gpu_test.h"

#include <cmath>
#include <complex>
#include <numbers>

namespace winnow::evaluators {
namespace {

using tasks::DType;

struct Transform {
  std::int64_t n, batch;
  bool inverse;
};

class CufftGpu : public CudaLibraryGpu, public testing::WithParamInterface<Transform> {
protected:
  void SetUp() override { open("cufft"); }
};

tasks::LibraryStep transform_of(const Transform& transform) {
  tasks::LibraryStep step;
  step.library = "cufft";
  step.operation = "fft";
  step.n = transform.n;
  step.batch = transform.batch;
  step.inverse = transform.inverse;
  const std::int64_t count = 2 * step.n * step.batch;
  step.operands = {{"a", DType::F32, count}, {"c", DType::F32, count}};
  return step;
}

TEST_P(CufftGpu, TransformsEveryRow) {
  const tasks::LibraryStep step = transform_of(GetParam());
  const auto n = static_cast<std::size_t>(step.n), batch = static_cast<std::size_t>(step.batch);
  std::vector<double> from(2 * n * batch);
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] = static_cast<double>((i * 7 + i / n * 3) % 5) - 2;
  }
  const std::vector<double> got =
      result_of(step, {from, std::vector<double>(from.size(), std::nan(""))});
  const double turn = (step.inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(n);
  for (std::size_t z = 0; z < batch; ++z) {
    for (std::size_t f = 0; f < n; ++f) {
      std::complex<double> sum = 0;
      for (std::size_t t = 0; t < n; ++t) {
        const std::size_t at = 2 * (z * n + t);
        sum += std::complex(from[at], from[at + 1]) *
               std::polar(1.0, turn * static_cast<double>(f * t % n));
      }
      const std::size_t at = 2 * (z * n + f);
      ASSERT_NEAR(got[at], sum.real(), 1e-5 * static_cast<double>(n)) << z << ", " << f;
      ASSERT_NEAR(got[at + 1], sum.imag(), 1e-5 * static_cast<double>(n)) << z << ", " << f;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Transforms, CufftGpu,
                         testing::Values(Transform{64, 3, false}, Transform{64, 3, true},
                                         Transform{96, 2, false}, Transform{211, 1, true}));

} // namespace
} // namespace winnow::evaluators
