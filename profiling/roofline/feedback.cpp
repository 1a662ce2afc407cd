#include "profiling/roofline/feedback.h"

#include "base/text.h"
#include "profiling/counters/counter_names.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace winnow::profiling {
namespace {

constexpr std::size_t kFindings = 2;    ///< per shape: the limiter and the next finding
constexpr std::size_t kLinesOfText = 2; ///< for a text that is not a finding
constexpr std::size_t kLinesOfFinding = 3;
constexpr std::size_t kLongestShape = 40; ///< bytes
constexpr std::size_t kLeastIndent = 4;   ///< of a continuation line

using Lines = std::vector<std::string>;

// Adds `text` as at most `most` lines of kFeedbackColumns bytes, the later lines indented. A longer
// text is shortened.
void add_wrapped(Lines& lines, std::string_view first, std::string text, std::size_t most) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  const std::string indent(std::max(first.size(), kLeastIndent), ' ');
  std::string prefix(first);
  for (std::size_t line = 1; line < most && prefix.size() + text.size() > kFeedbackColumns;
       ++line) {
    const std::size_t space = text.rfind(' ', kFeedbackColumns - prefix.size());
    if (space == std::string::npos || space == 0) {
      break;
    }
    lines.push_back(prefix + text.substr(0, space));
    text.erase(0, space + 1);
    prefix = indent;
  }
  lines.push_back(prefix + shortened(text, kFeedbackColumns - prefix.size()));
}

std::string headline(const ShapeProfile& profile) {
  std::string text = shortened(profile.shape, kLongestShape) + ": ";
  text += profile.time_ns ? counter_text(*profile.time_ns, "ns") : "not timed";
  if (profile.speed_of_light) {
    text += ", " + share_text(*profile.speed_of_light);
  } else if (!profile.no_speed_of_light.empty()) {
    text += ", speed of light unknown: " + profile.no_speed_of_light;
  }
  return text;
}

// "12.0 -> 45.2 (+277 %)"; empty for a small change.
std::string change(const std::string& name, std::optional<double> before,
                   std::optional<double> after, std::string_view unit) {
  if (!before || !after) {
    return {};
  }
  const double largest = std::max(std::abs(*before), std::abs(*after));
  if (largest == 0 || std::abs(*after - *before) <= kChangedPct / 100 * std::abs(*before)) {
    return {};
  }
  const std::string values =
      fmt::format("{} {} -> {}", name, counter_text(*before, unit), counter_text(*after, unit));
  return *before == 0 || unit == "%"
             ? values
             : fmt::format("{} ({:+.0f} %)", values, 100 * (*after / *before - 1));
}

// The distinct counter keys of the findings of both profiles, in that order.
Lines keys_of(const ShapeProfile& now, const ShapeProfile& before) {
  Lines keys;
  for (const std::vector<LimiterFinding>* findings : {&now.findings, &before.findings}) {
    for (const LimiterFinding& finding : *findings) {
      for (const std::string& key : finding.counters) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
          keys.push_back(key);
        }
      }
    }
  }
  return keys;
}

std::string changes(const ShapeProfile& now, const ShapeProfile& before) {
  Lines told = {change("time", before.time_ns, now.time_ns, "ns")};
  if (!now.findings.empty() && !before.findings.empty() &&
      now.findings[0].limiter != before.findings[0].limiter) {
    told.push_back(fmt::format("limiter {} -> {}", to_string(before.findings[0].limiter),
                               to_string(now.findings[0].limiter)));
  }
  for (const std::string& key : keys_of(now, before)) {
    const CounterName* name = find_counter(key);
    told.push_back(change(name != nullptr ? std::string(name->title) : key,
                          before.counters.value(key), now.counters.value(key),
                          name != nullptr ? name->unit : "1"));
  }
  std::erase(told, "");
  return told.empty() ? fmt::format("no change of more than {:.0f} %", kChangedPct)
                      : join(told, "; ");
}

/// How busy each unit is, of its peak (the tensor pipe even if it does nothing), and the clock of
/// the multiprocessors during the counted run.
std::string units_text(const CounterReport& counters) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kUnits{
      {{"tensor_pipe_pct", "tensor"},
       {"fma_pipe_pct", "FMA"},
       {"alu_pipe_pct", "ALU"},
       {"xu_pipe_pct", "special functions"},
       {"lsu_pipe_pct", "load/store"},
       {"issue_active_pct", "issue"},
       {"l1_throughput_pct", "shared memory and L1"},
       {"l2_throughput_pct", "L2"},
       {"dram_throughput_pct", "DRAM"},
       {"fp16_pipe_pct", "FP16"}}};
  Lines units;
  for (const auto& [key, name] : kUnits) {
    if (const std::optional<double> pct = counters.value(key);
        pct && (*pct >= 0.5 || units.empty())) {
      units.push_back(fmt::format("{} {:.0f} %", name, *pct));
    }
  }
  const std::optional<double> cycles = counters.value("sm_cycles");
  const std::optional<double> time_ns = counters.value("gpu_time_ns");
  if (cycles && time_ns && *time_ns > 0) {
    units.push_back(fmt::format("clock of this run {:.2f} GHz", *cycles / *time_ns));
  }
  return units.size() > 1 ? join(units, ", ") : "";
}

Lines lines_of(const ShapeProfile& profile, const ShapeProfile* parent) {
  Lines lines;
  add_wrapped(lines, "", headline(profile), kLinesOfText);
  if (profile.speed_of_light) {
    add_wrapped(lines, "  speed of light: ", least_time_text(*profile.speed_of_light),
                kLinesOfText);
    if (const std::string measured = measured_text(*profile.speed_of_light); !measured.empty()) {
      add_wrapped(lines, "  measured here: ", measured, kLinesOfText);
    }
  }
  for (std::size_t i = 0; i < std::min(profile.findings.size(), kFindings); ++i) {
    const LimiterFinding& finding = profile.findings[i];
    add_wrapped(lines, i == 0 ? "  limited by " : "  then       ",
                fmt::format("{}: {}", to_string(finding.limiter), finding.because),
                kLinesOfFinding);
  }
  if (const std::string units = units_text(profile.counters); !units.empty()) {
    add_wrapped(lines, "  busy: ", units, kLinesOfText);
  }
  if (const std::string stalls = stalls_text(profile.counters); !stalls.empty()) {
    add_wrapped(lines, "  warps wait for: ", stalls, kLinesOfText);
  }
  if (parent != nullptr) {
    add_wrapped(lines, "  since the parent: ", changes(profile, *parent), kLinesOfText);
  }
  return lines;
}

const ShapeProfile* same_shape(const std::vector<ShapeProfile>& profiles,
                               const std::string& shape) {
  const auto found = std::find_if(profiles.begin(), profiles.end(),
                                  [&](const ShapeProfile& other) { return other.shape == shape; });
  return found != profiles.end() ? &*found : nullptr;
}

} // namespace

std::string limiter_feedback(const std::vector<ShapeProfile>& profiles,
                             const std::vector<ShapeProfile>& parent, bool same_machine_code) {
  Lines lines;
  if (same_machine_code) {
    lines.emplace_back("The machine code is the same as the parent's: differences are noise.");
  }
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const Lines more =
        lines_of(profiles[i], same_machine_code ? nullptr : same_shape(parent, profiles[i].shape));
    const std::size_t reserved = i + 1 < profiles.size() ? 1 : 0; // for the number of others
    if (lines.size() + more.size() + reserved > kFeedbackLines) {
      const std::size_t rest = profiles.size() - i;
      lines.push_back(fmt::format("({} more shape{})", rest, rest == 1 ? "" : "s"));
      break;
    }
    lines.insert(lines.end(), more.begin(), more.end());
  }
  return lines.empty() ? "" : join(lines, "\n") + "\n";
}

} // namespace winnow::profiling
