// The file of a landscape: one list of keys serves reading and writing.
#include "base/text/toml_reader.h"
#include "lab/landscape.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

namespace winnow::lab {
namespace {

struct Range {
  double least;
  double most;
};
constexpr Range kShare{0, 1};
/// A mean of a share: 0 and 1 would leave no spread.
constexpr Range kMeanShare{0.001, 0.999};
constexpr Range kPositive{1e-9, 1e9};
constexpr Range kAmount{0, 1e9};
constexpr Range kLog{0, 20}; // a speedup of e^20 is no speedup
constexpr Range kUpTo10{0, 10};
constexpr Range kStructures{1, 1000};
constexpr Range kChoices{2, 256};

/// Calls visit(section, key, number, range) for each number of a landscape. A number of things has
/// an integer type.
template <typename AnyLandscape, typename Visit> void each_number(AnyLandscape& of, Visit visit) {
  visit("task", "ceiling", of.task.ceiling, kLog);
  visit("task", "ceiling_spread", of.task.ceiling_spread, kUpTo10);
  visit("task", "structures", of.task.structures, kStructures);
  visit("task", "least_ceiling", of.task.least_ceiling, kShare);
  visit("task", "speed_of_light", of.task.speed_of_light, kShare);
  visit("gains", "first_slower", of.gains.first_slower, kShare);
  visit("gains", "first_share", of.gains.first_share, kMeanShare);
  visit("gains", "first_alike", of.gains.first_alike, kShare);
  visit("gains", "improves", of.gains.improves, kShare);
  visit("gains", "hardness", of.gains.hardness, kUpTo10);
  visit("gains", "gap_share", of.gains.gap_share, kMeanShare);
  visit("gains", "regression", of.gains.regression, kLog);
  visit("tuning", "tunable", of.tuning.tunable, kShare);
  visit("tuning", "choices", of.tuning.choices, kChoices);
  visit("tuning", "gap", of.tuning.gap, kLog);
  visit("hidden", "slow", of.hidden.slow, kShare);
  visit("hidden", "slowdown", of.hidden.slowdown, kLog);
  visit("measurement", "interval", of.measurement.interval, kLog);
  visit("measurement", "race", of.measurement.race, kLog);
  visit("device", "right", of.device.right, kPositive);
  visit("device", "wrong", of.device.wrong, kAmount);
  visit("device", "heat", of.device.heat, kAmount);
  visit("device", "spread", of.device.spread, kUpTo10);
  visit("effects", "contrast", of.effects.contrast, kAmount);
  visit("effects", "failures", of.effects.failures, kAmount);
  visit("effects", "regressed", of.effects.regressed, kAmount);
  visit("effects", "families", of.effects.families, kShare);
}

const std::vector<std::string>& sections() {
  static const std::vector<std::string> all{"task",   "verdicts",    "gains",  "jumps",  "tuning",
                                            "hidden", "measurement", "device", "effects"};
  return all;
}

double ranged(const TomlReader& table, const char* key, const Range& range) {
  const double value = table.number(key);
  if (value < range.least || value > range.most) {
    table.fail(key, fmt::format("'{}' is {:g}", table.full_name(key), value),
               fmt::format("a number from {:g} to {:g}", range.least, range.most));
  }
  return value;
}

std::string source_of(const TomlReader& table) {
  std::string source = table.string("source");
  if (source.empty()) {
    table.fail("source", fmt::format("'{}' is empty", table.full_name("source")),
               "where the numbers of this table come from");
  }
  return source;
}

void read_keys(const TomlReader& table, const std::string& section, Landscape& landscape) {
  std::vector<std::string> known{"source"};
  if (section == "task") {
    known.emplace_back("has_baseline");
    landscape.task.has_baseline = table.boolean_or("has_baseline", true);
  }
  each_number(landscape, [&](const char* of, const char* key, auto& /*number*/, const Range&) {
    if (section == of) {
      known.emplace_back(key);
    }
  });
  table.allow_keys(known);
  each_number(landscape, [&](const char* of, const char* key, auto& number, const Range& range) {
    if (section == of && (section != "effects" || table.has(key))) {
      if constexpr (std::is_integral_v<std::remove_reference_t<decltype(number)>>) {
        table.integer(key); // throws for a fraction
      }
      number = static_cast<std::remove_reference_t<decltype(number)>>(ranged(table, key, range));
    }
  });
}

VerdictShares read_shares(const TomlReader& table) {
  constexpr double kRounding = 0.001;
  VerdictShares shares;
  double sum = 0;
  for (const auto& [name, at, value] : table.members()) {
    const auto verdict = tasks::verdict_from_string(name);
    if (!verdict) {
      std::vector<std::string> known;
      for (const tasks::Verdict each : tasks::all_verdicts()) {
        known.emplace_back(to_string(each));
      }
      table.fail_unknown(name, "verdict", name, known);
    }
    sum += shares[*verdict] = ranged(table, name.c_str(), kShare);
  }
  if (std::abs(sum - 1) > kRounding) {
    table.fail({}, fmt::format("the shares of '{}' add up to {:g}", table.full_name(""), sum),
               "shares that add up to 1");
  }
  return shares;
}

void read_verdicts(const TomlReader& table, Landscape& landscape) {
  std::vector<std::string> known = parent_state_names();
  known.emplace_back("source");
  table.allow_keys(known);
  for (std::size_t state = 0; state < kParentStates; ++state) {
    landscape.verdicts[state] = read_shares(table.table(parent_state_names()[state]));
  }
}

void read_jumps(const TomlReader& table, Landscape& landscape) {
  for (const auto& [op, at, value] : table.members()) {
    if (op == "source") {
      continue;
    }
    const double chance = ranged(table, op.c_str(), kShare);
    if (op == "other") {
      landscape.other_jump = chance;
    } else {
      landscape.jumps[op] = chance;
    }
  }
}

LabModel read_model(const TomlReader& table) {
  table.allow_keys({"name", "dollars", "seconds", "correct_odds", "improves_factor", "source"});
  source_of(table);
  LabModel model;
  model.name = table.string("name");
  model.dollars = ranged(table, "dollars", kAmount);
  model.seconds = ranged(table, "seconds", kAmount);
  if (table.has("correct_odds")) {
    model.correct_odds = ranged(table, "correct_odds", kAmount);
  }
  if (table.has("improves_factor")) {
    model.improves_factor = ranged(table, "improves_factor", kAmount);
  }
  if (model.name.empty() || model.name.find('@') != std::string::npos) {
    table.fail("name", "'" + model.name + "' cannot name a model", "a name without '@'");
  }
  return model;
}

void read_models(const TomlReader& root, Landscape& landscape) {
  for (const TomlReader& table : root.tables("models")) {
    LabModel model = read_model(table);
    for (const LabModel& other : landscape.models) {
      if (other.name == model.name) {
        table.fail("name", "two models are called '" + model.name + "'", "a name of its own");
      }
    }
    landscape.sources["models/" + model.name] = table.string("source");
    landscape.models.push_back(std::move(model));
  }
}

/// A TOML string in double quotes, ASCII only, because TomlReader::parse() takes nothing else.
std::string quoted(const std::string& text) {
  std::string written = "\"";
  for (const char c : text) {
    const bool is_plain = c >= ' ' && c < '\x7f';
    written += !is_plain ? "?" : c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return written + "\"";
}

std::string source_line(const Landscape& landscape, const std::string& section) {
  const auto source = landscape.sources.find(section);
  return "source = " + quoted(source == landscape.sources.end() ? "not known" : source->second) +
         "\n";
}

/// Six digits, which TOML takes as a float or an integer.
std::string number(double value) {
  return fmt::format("{:.6g}", value);
}

std::string shares_text(const VerdictShares& shares) {
  std::string text;
  for (const auto& [verdict, share] : shares) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", to_string(verdict), number(share));
  }
  return "{ " + text + " }";
}

std::string section_text(const Landscape& landscape, const std::string& section) {
  std::string text = fmt::format("\n[{}]\n", section) + source_line(landscape, section);
  if (section == "task") {
    text += fmt::format("has_baseline = {}\n", landscape.task.has_baseline);
  }
  each_number(landscape, [&](const char* of, const char* key, auto value, const Range& /*range*/) {
    if (section == of) {
      text += fmt::format("{} = {}\n", key, number(static_cast<double>(value)));
    }
  });
  if (section == "verdicts") {
    for (std::size_t state = 0; state < kParentStates; ++state) {
      text += parent_state_names()[state] + " = " + shares_text(landscape.verdicts[state]) + "\n";
    }
  }
  if (section == "jumps") {
    for (const auto& [op, chance] : landscape.jumps) {
      text += quoted(op) + " = " + number(chance) + "\n";
    }
    text += "other = " + number(landscape.other_jump) + "\n";
  }
  return text;
}

} // namespace

Landscape parse_landscape(std::string_view text, const std::string& file) {
  const TomlReader root = TomlReader::parse(text, file);
  std::vector<std::string> known = sections();
  known.insert(known.end(), {"name", "models"});
  root.allow_keys(known);
  Landscape landscape;
  landscape.name = root.string("name");
  if (landscape.name.empty()) {
    root.fail("name", "'name' is empty", "what the landscape is fitted to");
  }
  for (const std::string& section : sections()) {
    if (section == "effects" && !root.has(section)) {
      continue;
    }
    const TomlReader table = root.table(section);
    landscape.sources[section] = source_of(table);
    if (section == "verdicts") {
      read_verdicts(table, landscape);
    } else if (section == "jumps") {
      read_jumps(table, landscape);
    } else {
      read_keys(table, section, landscape);
    }
  }
  read_models(root, landscape);
  return landscape;
}

std::string landscape_toml(const Landscape& landscape) {
  std::string text = "name = " + quoted(landscape.name) + "\n";
  for (const std::string& section : sections()) {
    if (section != "effects" || !landscape.effects_on().empty()) {
      text += section_text(landscape, section);
    }
  }
  for (const LabModel& model : landscape.models) {
    text += "\n[[models]]\nname = " + quoted(model.name) + "\n" +
            source_line(landscape, "models/" + model.name) +
            fmt::format("dollars = {}\nseconds = {}\ncorrect_odds = {}\nimproves_factor = {}\n",
                        number(model.dollars), number(model.seconds), number(model.correct_odds),
                        number(model.improves_factor));
  }
  return text;
}

} // namespace winnow::lab
