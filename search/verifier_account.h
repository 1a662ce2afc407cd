#pragma once

#include <cstdint>
#include <string>

namespace winnow::search {

/// Of rejected candidates this share runs anyway, drawn at random: only their verdicts say whether
/// the verifier is right.
constexpr double kAuditShare = 0.1;
/// Before so many answers the account says little.
constexpr std::int64_t kVerifierTrial = 8;

/// What an hour of the device is worth in US dollars: about the price of a rented H100 in 2025.
constexpr double kDeviceDollarsPerHour = 3;

/// What the verifier's answers in one search have cost and saved. Money is in US dollars.
struct VerifierAccount {
  // Candidates by the verifier's answer and what their evaluation found later.
  std::int64_t accepted_correct = 0, accepted_failed = 0;
  std::int64_t audited_correct = 0, audited_failed = 0; ///< rejected, and run anyway
  std::int64_t not_run = 0;                             ///< rejected
  std::int64_t answers = 0;                             ///< all replies, also those of no use
  double dollars = 0;               ///< of the verifier's calls, as far as known
  double idle_seconds = 0;          ///< that the device waited for an answer and had no other work
  double failed_device_seconds = 0; ///< of the failed candidates that ran
  double correct_device_seconds = 0;
  double kernel_dollars = 0; ///< of the calls that wrote the candidates, as far as known

  std::int64_t ran() const {
    return accepted_correct + accepted_failed + audited_correct + audited_failed;
  }
  /// The share of the rejected candidates that would fail, with one success and one failure added
  /// to the audited ones (Laplace's rule).
  double expected_precision() const;
  /// Device time that failing candidates did not take. One takes the mean time of those that ran
  /// and failed; as long as there is none, of those that ran.
  double saved() const;
  /// The calls, the idle device, and the calls that wrote good kernels which were rejected.
  double spent() const;
  /// Why the verifier is not worth its cost: after kVerifierTrial answers it has cost more than it
  /// has saved. Empty: it is worth it, or the trial is not over, or no candidate has run yet.
  std::string why_off() const;
};

} // namespace winnow::search
