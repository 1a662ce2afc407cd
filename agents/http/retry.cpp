#include "agents/http/retry.h"

#include "agents/http/libcurl.h"
#include "base/text.h"

#include <algorithm>
#include <cmath>

namespace winnow::agents {
namespace {

constexpr double kJitter = 0.25;
constexpr double kMaxMilliseconds = 1e12;

std::optional<double> plain_number(const std::string& text) {
  const auto value = whole_number<double>(text);
  return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

std::chrono::milliseconds capped(double milliseconds) {
  return std::chrono::milliseconds(
      static_cast<std::chrono::milliseconds::rep>(std::clamp(milliseconds, 0.0, kMaxMilliseconds)));
}

bool worth_retrying(const FailedAttempt& failed) {
  if (failed.out_of_money) {
    return false;
  }
  if (failed.should_retry) {
    return *failed.should_retry;
  }
  return failed.transport || failed.status == 408 || failed.status == 409 || failed.status == 429 ||
         (failed.status >= 500 && failed.status <= 599);
}

} // namespace

std::optional<std::chrono::milliseconds> retry_delay(const RetryPolicy& policy,
                                                     const FailedAttempt& failed, double random) {
  if ((failed.attempt >= policy.max_attempts && !failed.waits) || !worth_retrying(failed)) {
    return std::nullopt;
  }
  const double jitter = 1 - kJitter * random;
  if (failed.asked_for && failed.asked_for->count() > 0) {
    if (*failed.asked_for > policy.longest_wait) {
      return std::nullopt;
    }
    // Never earlier than the endpoint asks, but up to the jitter later, so that many callers do not
    // return at the same time.
    return capped(static_cast<double>(failed.asked_for->count()) * (2 - jitter));
  }
  const double doubled = static_cast<double>(policy.base.count()) * std::exp2(failed.attempt - 1);
  return capped(std::min(doubled, static_cast<double>(policy.cap.count())) * jitter);
}

std::optional<std::chrono::milliseconds>
requested_delay(const std::map<std::string, std::string>& headers, std::time_t now) {
  if (const auto header = headers.find("retry-after-ms"); header != headers.end()) {
    if (const auto value = plain_number(header->second)) {
      return capped(*value);
    }
  }
  const auto header = headers.find("retry-after");
  if (header == headers.end()) {
    return std::nullopt;
  }
  if (const auto seconds = plain_number(header->second)) {
    return capped(*seconds * 1000);
  }
  const std::time_t date = libcurl().getdate(header->second.c_str(), nullptr);
  if (date == -1) {
    return std::nullopt;
  }
  const auto sent = headers.find("date");
  const std::time_t theirs =
      sent == headers.end() ? -1 : libcurl().getdate(sent->second.c_str(), nullptr);
  return capped(std::difftime(date, theirs == -1 ? now : theirs) * 1000);
}

} // namespace winnow::agents
