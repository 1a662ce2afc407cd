#pragma once

#include "remote/canary.h"

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace winnow::remote {

/// What the coordinator holds against each worker. Any thread may use it.
class WorkerTrust {
public:
  /// A worker with so many marks is quarantined.
  static constexpr int kMostMarks = 3;
  static constexpr int kRefusedResult = 1; ///< marks
  static constexpr int kOddAnswer = 2;     ///< where the kernel may be unstable
  static constexpr int kLie = kMostMarks;  ///< an odd answer, or a wrong answer to a canary
  /// Results of a worker that counted, before its first canary, and before the first of the other
  /// kind.
  static constexpr int kFirstCanaryAfter = 5;
  static constexpr int kCanaryAfter = 15; ///< before each later one

  explicit WorkerTrust(const std::vector<std::string>& quarantined);

  bool is_quarantined(const std::string& worker) const;
  std::vector<std::string> quarantined() const;
  /// True: the worker is quarantined now, and was not before.
  bool mark(const std::string& worker, int marks);
  void was_right(const std::string& worker); ///< its answer agreed with another worker's
  /// Its next canary is of the other kind.
  void passed_canary(const std::string& worker, CanaryKind kind);
  void count(const std::string& worker); ///< a result of the worker counts
  /// Its times may be wrong: it owes a canary of the kind Timing now.
  void doubt_timing(const std::string& worker);
  /// Of which kind the next canary must be. nullopt: no worker that is not quarantined owes one.
  std::optional<CanaryKind> owed_canary() const;
  /// The worker has answered from the queue of the trusted workers, which the broker guards.
  void prove_trusted(const std::string& worker);
  bool is_trusted(const std::string& worker) const;

private:
  struct Record {
    int marks = 0;
    int until_canary = kFirstCanaryAfter;
    CanaryKind next_canary = CanaryKind::Wrong;
    bool has_passed_canary = false;
    bool quarantined = false, trusted = false, is_timing_doubtful = false;
  };

  mutable std::mutex mutex_; ///< guards workers_
  std::map<std::string, Record> workers_;
};

} // namespace winnow::remote
