#include "harness/run/state/progress.h"

#include "base/text.h"
#include "base/text/number_text.h"
#include "harness/config/duration.h"
#include "harness/report/counted.h"
#include "harness/report/visible_output.h"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

std::string_view state_word(agents::EndpointHealth::State state) {
  using State = agents::EndpointHealth::State;
  switch (state) {
  case State::Ok:
    return "ok again";
  case State::Limited:
    return "limited";
  case State::Degraded:
    return "degraded";
  case State::Down:
    return "down";
  }
  return "";
}

std::string endpoint_part(const agents::EndpointHealth& health) {
  return health.state == agents::EndpointHealth::State::Ok
             ? std::string()
             : fmt::format("endpoint {}: {}", state_word(health.state), visible(health.why));
}

std::string calls_part(const ProgressSnapshot& snapshot) {
  std::string text =
      fmt::format("{}/{}", snapshot.spend.calls, counted(snapshot.calls_planned, "call"));
  if (snapshot.in_flight > 0) {
    text += fmt::format(", {} in flight", snapshot.in_flight);
  }
  if (snapshot.judging > 0) {
    text += fmt::format(", {} judging", snapshot.judging);
  }
  return text;
}

std::string verdicts_part(const ProgressSnapshot& snapshot) {
  std::vector<std::pair<std::string, std::int64_t>> counts(snapshot.verdicts.begin(),
                                                           snapshot.verdicts.end());
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [verdict, count] : counts) {
    parts.push_back(fmt::format("{} {}", count, verdict));
  }
  return join(parts, ", ");
}

std::string best_part(const ProgressSnapshot& snapshot) {
  const auto best =
      std::max_element(snapshot.best_speedup.begin(), snapshot.best_speedup.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return best == snapshot.best_speedup.end()
             ? std::string()
             : fmt::format("best {}x {}", number_text(best->second), best->first);
}

std::string spend_part(const ProgressSnapshot& snapshot) {
  if (snapshot.spend.dollars <= 0 && snapshot.limits.dollars <= 0) {
    return {};
  }
  std::string text = "$" + number_text(snapshot.spend.dollars);
  if (snapshot.limits.dollars > 0) {
    text += fmt::format(" of ${:g}", snapshot.limits.dollars);
  }
  return text;
}

std::int64_t judged(const ProgressSnapshot& snapshot) {
  std::int64_t sum = 0;
  for (const auto& [verdict, count] : snapshot.verdicts) {
    sum += count;
  }
  return sum;
}

/// The time left until the limit on wall time or until all replies are judged at the rate so far,
/// whichever comes first. If no reply is judged yet, or none is left: the time that the run has
/// taken.
std::string time_part(const ProgressSnapshot& snapshot) {
  using std::chrono::milliseconds;
  const std::int64_t done = judged(snapshot);
  milliseconds left{0};
  if (done > 0) {
    // The rate changes only with a result. Otherwise the time left would grow until the next one.
    const milliseconds end = snapshot.last_result * std::max(snapshot.calls_planned, done) / done;
    left = std::max(end - snapshot.elapsed, milliseconds{0});
    if (snapshot.limits.wall_time.count() > 0) {
      left = std::clamp(snapshot.limits.wall_time - snapshot.elapsed, milliseconds{0}, left);
    }
  }
  return left.count() == 0 ? format_duration(snapshot.elapsed)
                           : "about " + format_duration(left) + " left";
}

} // namespace

std::string status_line(const ProgressSnapshot& snapshot, std::size_t columns) {
  constexpr std::string_view kBetween = " | ";
  std::string line;
  for (const std::string& part :
       {endpoint_part(snapshot.endpoint), calls_part(snapshot), time_part(snapshot),
        best_part(snapshot), spend_part(snapshot), verdicts_part(snapshot)}) {
    const std::size_t length = line.size() + kBetween.size() + part.size();
    if (line.empty()) {
      line = part;
    } else if (!part.empty() && length <= columns) {
      line += std::string(kBetween) + part;
    }
  }
  return line.substr(0, columns);
}

void Progress::event(const std::string& line, Weight weight) {
  if (terminal_ && weight == Weight::Routine) {
    return;
  }
  if (terminal_ && !status_.empty()) {
    out_ << erase_line;
  }
  out_ << line << '\n';
  redraw();
}

/// Without a status line, only changes of the state are printed.
void Progress::note_endpoint(const agents::EndpointHealth& health) {
  if (health.state != endpoint_) {
    event(fmt::format("endpoint {}{}{}", state_word(health.state), health.why.empty() ? "" : ": ",
                      health.why));
  }
  endpoint_ = health.state;
}

void Progress::update(const ProgressSnapshot& snapshot) {
  note_endpoint(snapshot.endpoint);
  if (terminal_) {
    // A line that wraps cannot be redrawn.
    status(columns_ > 1 ? status_line(snapshot, columns_ - 1) : status_line(snapshot));
  }
}

void Progress::status(const std::string& line) {
  if (terminal_) {
    status_ = line;
    redraw();
  }
}

void Progress::finish() {
  if (terminal_ && !status_.empty()) {
    out_ << erase_line << std::flush;
    status_.clear();
  }
}

void Progress::redraw() {
  if (terminal_ && !status_.empty()) {
    out_ << erase_line << status_;
  }
  out_ << std::flush;
}

} // namespace winnow::harness
