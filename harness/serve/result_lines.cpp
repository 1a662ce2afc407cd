#include "harness/serve/result_lines.h"

#include "base/json_dump.h"

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

constexpr std::size_t kKeptBytes = std::size_t{8} << 20U;

} // namespace

std::vector<ResultLines::Line> ResultLines::of(const std::string& batch, std::int64_t after,
                                               std::int64_t limit) {
  std::vector<Line> lines;
  for (const store::JudgeItemRow& item : service_.requests().answered(batch, after, limit)) {
    lines.push_back({item.place, of(item)});
  }
  return lines;
}

ResultLines::Text ResultLines::of(const store::JudgeItemRow& item) {
  const auto key = std::make_pair(item.batch, item.place);
  if (const auto known = known_.find(key); known != known_.end()) {
    return known->second;
  }
  auto text = std::make_shared<const std::string>(json_line(service_.result(item)));
  if (bytes_ + text->size() > kKeptBytes) {
    forget();
  }
  bytes_ += text->size();
  return known_[key] = std::move(text);
}

void ResultLines::forget() {
  known_.clear();
  bytes_ = 0;
}

} // namespace winnow::harness
