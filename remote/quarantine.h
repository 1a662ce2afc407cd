#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace winnow::remote {

/// The workers of a pool whose results do not count any more. Any thread may use it.
class Quarantine {
public:
  /// A result that is refused gives its worker a mark, and a result that counts takes one away. So
  /// many marks quarantine the worker.
  static constexpr int kMostMarks = 3;

  explicit Quarantine(const std::vector<std::string>& workers);

  bool has(const std::string& worker) const;
  std::vector<std::string> workers() const;
  // True: the worker is quarantined now, and was not before.
  bool add(const std::string& worker);
  bool refuse(const std::string& worker); ///< a result of the worker
  void count(const std::string& worker);  ///< a result of the worker

private:
  mutable std::mutex mutex_; ///< guards the members below
  std::set<std::string> workers_;
  std::map<std::string, int> marks_;
};

} // namespace winnow::remote
