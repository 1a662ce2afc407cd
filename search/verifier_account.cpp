#include "search/verifier_account.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::search {
namespace {

constexpr double kSecondsPerHour = 3600;

} // namespace

double VerifierAccount::expected_precision() const {
  return static_cast<double>(audited_failed + 1) /
         static_cast<double>(audited_failed + audited_correct + 2);
}

double VerifierAccount::saved(double device_dollars_per_hour) const {
  const std::int64_t failed = accepted_failed + audited_failed;
  const double seconds =
      failed > 0 ? failed_device_seconds / static_cast<double>(failed)
                 : correct_device_seconds / static_cast<double>(std::max<std::int64_t>(ran(), 1));
  return static_cast<double>(not_run) * expected_precision() * seconds * device_dollars_per_hour /
         kSecondsPerHour;
}

double VerifierAccount::spent(double device_dollars_per_hour) const {
  const double kernel = kernel_dollars / static_cast<double>(std::max<std::int64_t>(answers, 1));
  return dollars + idle_seconds * device_dollars_per_hour / kSecondsPerHour +
         static_cast<double>(not_run) * (1 - expected_precision()) * kernel;
}

std::string VerifierAccount::why_off(double device_dollars_per_hour) const {
  const double cost = spent(device_dollars_per_hour);
  const double gain = saved(device_dollars_per_hour);
  if (answers < kVerifierTrial || ran() == 0 || cost <= gain) {
    return {};
  }
  return fmt::format("{} answers have cost ${:.4f} and saved ${:.4f} of device time", answers, cost,
                     gain);
}

} // namespace winnow::search
