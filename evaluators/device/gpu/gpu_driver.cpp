#include "evaluators/device/gpu/gpu_driver.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::evaluators {

ErrorClass classify(int code, std::span<const ErrorMeaning> meanings) {
  const auto found = std::find_if(meanings.begin(), meanings.end(), [code](const auto& meaning) {
    return std::find(meaning.codes.begin(), meaning.codes.end(), code) != meaning.codes.end();
  });
  return found == meanings.end() ? ErrorClass{} : found->what;
}

GpuError::GpuError(std::string call, std::string code, std::string explanation, GpuFailure failure,
                   bool sticky)
    : Error(fmt::format("{}: {} ({})", call, code, explanation)), failure_(failure),
      sticky_(sticky) {}

} // namespace winnow::evaluators
