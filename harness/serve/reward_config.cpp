#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/text/toml_reader.h"
#include "harness/serve/reward.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

constexpr std::uint64_t kMostConfigBytes = 1U << 20U;

class RewardReader {
public:
  explicit RewardReader(std::string file) : file_(std::move(file)) {}

  Rewards read(const TomlReader& root) {
    for (const TomlMember& section : tables_of(root, {}, {"serve"})) {
      for (const TomlMember& part : tables_of(section.value, "serve", {"reward"})) {
        for (const TomlMember& formula : tables_of(part.value, "serve.reward", {})) {
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
  std::vector<TomlMember> tables_of(const TomlReader& table, const std::string& path,
                                    const std::vector<std::string>& names) {
    std::vector<TomlMember> tables;
    for (const TomlMember& member : table.members()) {
      const std::string inner = path.empty() ? member.key : path + "." + member.key;
      if (!names.empty() && std::find(names.begin(), names.end(), member.key) == names.end()) {
        mistake(member.at,
                fmt::format("a server has no [{}]; expected [serve.reward.NAME]", inner));
      } else if (!member.value.is_table()) {
        mistake(member.at, fmt::format("'{}' is no table; expected [serve.reward.NAME]", inner));
      } else {
        tables.push_back(member);
      }
    }
    return tables;
  }

  void read_formula(const TomlMember& table) {
    RewardFormula formula;
    formula.name = table.key;
    for (const TomlMember& member : table.value.members()) {
      try {
        if (!set_member(formula, member.key, member.value.json())) {
          mistake(member.at, fmt::format("unknown key '{}' in [serve.reward.{}]{}", member.key,
                                         table.key, suggestion(member.key, reward_member_names())));
        }
      } catch (const UsageError& expected) {
        mistake(member.value.at(), fmt::format("serve.reward.{}.{}: expected {}", table.key,
                                               member.key, expected.what()));
      }
    }
    check_and_add(table, std::move(formula));
  }

  void check_and_add(const TomlMember& table, RewardFormula formula) {
    if (table.value.members().empty()) {
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
  return RewardReader(file).read(TomlReader::parse(text, file));
}

Rewards load_rewards(const std::filesystem::path& file) {
  return file.empty() ? Rewards() : parse_rewards(read_file(file, kMostConfigBytes), file.string());
}

} // namespace winnow::harness
