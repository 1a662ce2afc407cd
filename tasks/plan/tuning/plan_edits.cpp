#include "tasks/plan/tuning/plan_edits.h"

#include "base/text.h"
#include "tasks/source/kernel_file_scan.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

/// What stays of a text that is taken out: its line ends and the indentation after the last.
std::string line_ends_of(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    kept += c == '\n' || c == '\r' ? std::string(1, c) : "";
  }
  const std::size_t last = text.rfind('\n');
  const std::string_view tail = last == std::string_view::npos ? "" : text.substr(last + 1);
  return trim(tail).empty() ? kept + std::string(tail) : kept;
}

std::int64_t listed_value(const JsonValue& value) {
  return value.kind == JsonValue::Kind::Boolean ? (value.boolean ? 1 : 0) : value.integer;
}

} // namespace

PlanEdits::PlanEdits(const KernelFile& file) : file_(file), lines_{0} {
  const std::string_view text = file.text;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos;
       end = text.find('\n', end + 1)) {
    lines_.push_back(end + 1);
  }
  const KernelFileScan scan = scan_kernel_file(text);
  const KernelFileScan::PlanComment& comment = scan.plans.front();
  plan_ = parse_json(text.substr(comment.json_begin, comment.json_end - comment.json_begin),
                     position_of(text, comment.json_begin));
}

std::string_view PlanEdits::text_at(Span span) const {
  return std::string_view(file_.text).substr(span.begin, span.end - span.begin);
}

std::size_t PlanEdits::offset_of(SourcePosition at) const {
  return lines_[static_cast<std::size_t>(at.line - 1)] + static_cast<std::size_t>(at.column - 1);
}

PlanEdits::Span PlanEdits::span_of(const JsonValue& value) const {
  const std::size_t quote = value.kind == JsonValue::Kind::String ? 1 : 0;
  return {offset_of(value.at) - quote, offset_of(value.end)};
}

void PlanEdits::move_to_front(const std::string& parameter, std::int64_t value) {
  const JsonValue* params = plan_.find("params");
  const JsonValue* list = params == nullptr ? nullptr : params->find(parameter);
  if (list == nullptr) {
    return;
  }
  const auto& items = list->items;
  const auto chosen = std::find_if(items.begin(), items.end(), [&](const JsonValue& item) {
    return listed_value(item) == value;
  });
  if (chosen == items.end()) {
    return;
  }
  std::string moved(text_at(span_of(*chosen)));
  for (auto item = items.begin(); item != chosen + 1; ++item) {
    const Span place = span_of(*item);
    edits_.push_back({place, std::exchange(moved, std::string(text_at(place)))});
  }
}

/// Takes items out of a list or an object, each with one comma.
void PlanEdits::remove(const std::vector<Span>& items, const std::vector<bool>& removed) {
  const auto last_kept = std::find(removed.rbegin(), removed.rend(), false);
  const auto kept = static_cast<std::size_t>(removed.rend() - last_kept); // 0: none
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!removed[i]) {
      continue;
    }
    Span span = items[i];
    if (kept != 0 && i >= kept) {
      span.begin = items[i - 1].end;
    } else if (i + 1 < items.size()) {
      span.end = items[i + 1].begin;
    }
    edits_.push_back({span, line_ends_of(text_at(span))});
  }
}

void PlanEdits::bind(const std::vector<std::pair<std::string, std::string>>& bindings) {
  const JsonValue& params = *plan_.find("params");
  std::vector<Span> members;
  std::vector<bool> removed;
  for (const JsonMember& member : params.members) {
    members.push_back({offset_of(member.at), span_of(member.value).end});
    removed.push_back(std::any_of(bindings.begin(), bindings.end(),
                                  [&](const auto& one) { return one.first == member.key; }));
  }
  remove(members, removed);
  std::vector<std::string> lets;
  for (const auto& [name, expression] : bindings) {
    lets.push_back(fmt::format("\"{}\": \"{}\"", name, expression));
  }
  std::string text = join(lets, ", ");
  if (const JsonValue* let = plan_.find("let")) {
    const std::size_t inside = offset_of(let->at) + 1;
    text = let->members.empty() ? text : " " + text + ",";
    edits_.push_back({{inside, inside}, std::move(text)});
  } else {
    const std::size_t after = span_of(params).end;
    edits_.push_back({{after, after}, ", \"let\": { " + text + " }"});
  }
}

void PlanEdits::replace_where(
    const std::vector<std::pair<std::size_t, std::vector<std::string>>>& replaced) {
  const JsonValue* where = plan_.find("where");
  if (where == nullptr) {
    return;
  }
  auto items = each<Span>(where->items, [&](const JsonValue& item) { return span_of(item); });
  std::vector<bool> removed(items.size(), false);
  for (const auto& [index, conditions] : replaced) {
    removed[index] = conditions.empty();
    if (!conditions.empty()) {
      edits_.push_back({items[index], "\"" + join(conditions, "\", \"") + "\""});
    }
  }
  remove(items, removed);
}

std::string PlanEdits::text() const {
  std::vector<Edit> edits = edits_;
  std::sort(edits.begin(), edits.end(),
            [](const Edit& a, const Edit& b) { return a.span.begin < b.span.begin; });
  std::string result;
  std::size_t done = 0;
  for (const Edit& edit : edits) {
    result += text_at({done, edit.span.begin});
    result += edit.text;
    done = edit.span.end;
  }
  return result + file_.text.substr(done);
}

} // namespace winnow::tasks
