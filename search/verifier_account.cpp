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

double VerifierAccount::saved() const {
  const std::int64_t failed = accepted_failed + audited_failed;
  const double seconds =
      failed > 0 ? failed_device_seconds / static_cast<double>(failed)
                 : correct_device_seconds / static_cast<double>(std::max<std::int64_t>(ran(), 1));
  return static_cast<double>(not_run) * expected_precision() * seconds * kDeviceDollarsPerHour /
         kSecondsPerHour;
}

double VerifierAccount::spent() const {
  const double kernel = kernel_dollars / static_cast<double>(std::max<std::int64_t>(answers, 1));
  return dollars + idle_seconds * kDeviceDollarsPerHour / kSecondsPerHour +
         static_cast<double>(not_run) * (1 - expected_precision()) * kernel;
}

std::string VerifierAccount::why_off() const {
  const double cost = spent();
  const double gain = saved();
  if (answers < kVerifierTrial || ran() == 0 || cost <= gain) {
    return {};
  }
  return fmt::format("{} answers have cost ${:.4f} and saved ${:.4f} of device time", answers, cost,
                     gain);
}

} // namespace winnow::search
