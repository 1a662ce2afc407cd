#pragma once

#include "harness/serve/judge_service.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace winnow::harness {

/// Results as lines of JSON. The last ones are kept for a while, so that many readers of a batch
/// cost little more than one. Whoever calls knows that the reader may see the batch.
class ResultLines {
public:
  using Text = std::shared_ptr<const std::string>;
  struct Line {
    std::int64_t place = 0;
    Text text;
  };
  explicit ResultLines(const JudgeService& service) : service_(service) {}

  /// Of the answers of a batch after this place, at most `limit`.
  std::vector<Line> of(const std::string& batch, std::int64_t after, std::int64_t limit);
  Text of(const store::JudgeItemRow& item); ///< an answered one
  void forget();                            ///< reads the store again from now on

private:
  const JudgeService& service_;
  std::map<std::pair<std::string, std::int64_t>, Text> known_; ///< by batch and place
  std::size_t bytes_ = 0;
};

} // namespace winnow::harness
