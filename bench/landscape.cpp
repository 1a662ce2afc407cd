#include "bench/landscape.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::bench {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;

/// Four digits say more than a time's noise does.
double rounded(double value) {
  return std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr);
}

json json_of(const RecordedChoice& choice) {
  json ratios = json::array();
  for (const std::vector<double>& of_shape : choice.ratios) {
    json& row = ratios.emplace_back(json::array());
    for (const double ratio : of_shape) {
      row.push_back(rounded(ratio));
    }
  }
  return {
      {"parameters", choice.parameters},
      {"status", choice.verdict == tasks::Verdict::NotJudged ? "timed" : to_string(choice.verdict)},
      {"machine_code", choice.machine_code},
      {"ratios", std::move(ratios)},
      {"seconds", {rounded(choice.seconds[0]), rounded(choice.seconds[1])}}};
}

RecordedChoice choice_of(const json& written) {
  RecordedChoice choice;
  written.at("parameters").get_to(choice.parameters);
  const auto& status = written.at("status").get_ref<const std::string&>();
  if (status != "timed") {
    choice.verdict = tasks::verdict_from_string(status).value();
  }
  written.at("machine_code").get_to(choice.machine_code);
  written.at("ratios").get_to(choice.ratios);
  written.at("seconds").get_to(choice.seconds);
  return choice;
}

} // namespace

void to_json(json& json, const Landscape& landscape) {
  json = {{"task", landscape.task},       {"file", landscape.file},
          {"device", landscape.device},   {"shapes", landscape.shapes},
          {"allowed", landscape.allowed}, {"turns", Landscape::kTurns},
          {"choices", json::array()}};
  for (const RecordedChoice& choice : landscape.choices) {
    json["choices"].push_back(json_of(choice));
  }
}

void from_json(const json& json, Landscape& landscape) {
  json.at("task").get_to(landscape.task);
  json.at("file").get_to(landscape.file);
  json.at("device").get_to(landscape.device);
  json.at("shapes").get_to(landscape.shapes);
  json.at("allowed").get_to(landscape.allowed);
  if (json.at("turns") != Landscape::kTurns) {
    throw Error(fmt::format("a landscape of heats of {} turns", json.at("turns").dump()),
                "record the landscape again");
  }
  for (const auto& choice : json.at("choices")) {
    landscape.choices.push_back(choice_of(choice));
  }
}

std::vector<Landscape> read_landscapes(const std::filesystem::path& path) {
  std::vector<Landscape> landscapes;
  const std::string text = read_file(path, kMaxBytes);
  for (const std::string_view line : split_lines(text)) {
    try {
      landscapes.push_back(json::parse(line).get<Landscape>());
    } catch (const json::exception& error) {
      throw Error(fmt::format("{}:{}: not a landscape: {}", path.string(), landscapes.size() + 1,
                              error.what()),
                  "record the landscape again");
    }
  }
  return landscapes;
}

} // namespace winnow::bench
