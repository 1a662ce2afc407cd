#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::harness {

/// Several kernel files of one task, best first.
class VariantsTable {
public:
  /// `brief`: of schema winnow.brief, not shortened.
  void add(nlohmann::json brief);
  /// A row for each file (verdict, time at each search shape, speedup, share of the speed of
  /// light), then a line with the reason for each kernel that is not correct.
  std::string text() const;

private:
  std::vector<nlohmann::json> briefs_;
};

} // namespace winnow::harness
