#include "harness/serve/reward_config.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/text/toml.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

constexpr std::uint64_t kMostConfigBytes = 1U << 20U;

/// Null for what no member of a formula is.
nlohmann::json numbers_of(const JsonValue& value) {
  if (value.kind == JsonValue::Kind::Integer || value.kind == JsonValue::Kind::Real) {
    return value.real;
  }
  if (value.kind != JsonValue::Kind::Array) {
    return nullptr;
  }
  nlohmann::json list = nlohmann::json::array();
  for (const JsonValue& item : value.items) {
    list.push_back(numbers_of(item));
  }
  return list;
}

class RewardReader {
public:
  explicit RewardReader(std::string file) : file_(std::move(file)) {}

  Rewards read(const JsonValue& root) {
    for (const JsonMember& section : tables_of(root, {}, {"serve"})) {
      for (const JsonMember& part : tables_of(section.value, "serve", {"reward"})) {
        for (const JsonMember& formula : tables_of(part.value, "serve.reward", {})) {
          read_formula(formula);
        }
      }
    }
    if (!mistakes_.empty()) {
      throw UsageError(join(mistakes_, "\n"));
    }
    return std::move(rewards_);
  }

private:
  void mistake(SourcePosition at, const std::string& what) {
    mistakes_.push_back(fmt::format("{}:{}:{}: {}", file_, at.line, at.column, what));
  }

  /// The members that are tables and have one of the names; any name if there are none.
  std::vector<JsonMember> tables_of(const JsonValue& table, const std::string& path,
                                    const std::vector<std::string>& names) {
    std::vector<JsonMember> tables;
    for (const JsonMember& member : table.members) {
      const std::string inner = path.empty() ? member.key : path + "." + member.key;
      if (!names.empty() && std::find(names.begin(), names.end(), member.key) == names.end()) {
        mistake(member.at,
                fmt::format("a server has no [{}]; expected [serve.reward.NAME]", inner));
      } else if (member.value.kind != JsonValue::Kind::Object) {
        mistake(member.at, fmt::format("'{}' is no table; expected [serve.reward.NAME]", inner));
      } else {
        tables.push_back(member);
      }
    }
    return tables;
  }

  void read_formula(const JsonMember& table) {
    RewardFormula formula;
    formula.name = table.key;
    for (const JsonMember& member : table.value.members) {
      try {
        if (!set_member(formula, member.key, numbers_of(member.value))) {
          mistake(member.at, fmt::format("unknown key '{}' in [serve.reward.{}]{}", member.key,
                                         table.key, suggestion(member.key, reward_member_names())));
        }
      } catch (const UsageError& expected) {
        mistake(member.value.at, fmt::format("serve.reward.{}.{}: expected {}", table.key,
                                             member.key, expected.what()));
      }
    }
    check_and_add(table, std::move(formula));
  }

  void check_and_add(const JsonMember& table, RewardFormula formula) {
    if (table.value.members.empty()) {
      mistake(table.at, fmt::format("[serve.reward.{}] is empty, so all rewards would be 0; "
                                    "expected for instance: correct = 0.3",
                                    table.key));
    }
    if (formula.least && formula.most && *formula.least > *formula.most) {
      mistake(table.at, fmt::format("serve.reward.{}.least = {:g} is above most = {:g}", table.key,
                                    *formula.least, *formula.most));
    }
    try {
      rewards_.add(std::move(formula));
    } catch (const UsageError& error) {
      mistake(table.at, fmt::format("{}: {}", error.what(), error.remedy()));
    }
  }

  std::string file_;
  Rewards rewards_;
  std::vector<std::string> mistakes_;
};

} // namespace

Rewards parse_rewards(std::string_view text, const std::string& file) {
  return RewardReader(file).read(parse_toml(text, file));
}

Rewards load_rewards(const std::filesystem::path& file) {
  return file.empty() ? Rewards() : parse_rewards(read_file(file, kMostConfigBytes), file.string());
}

} // namespace winnow::harness
