#include "tasks/json_number.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

namespace winnow::tasks {

nlohmann::json number_json(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  return value;
}

double number_of(const nlohmann::json& json) {
  if (!json.is_string()) {
    return json.get<double>();
  }
  const auto text = json.get<std::string>();
  if (text == "nan") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (text != "inf" && text != "-inf") {
    throw std::invalid_argument("'" + text + "' is not a number");
  }
  return (text == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
}

void to_json(nlohmann::json& json, const Mismatch& mismatch) {
  json = {{"tensor", mismatch.tensor},
          {"wrong", mismatch.wrong},
          {"total", mismatch.total},
          {"first_index", mismatch.first_index},
          {"first_position", mismatch.first_position},
          {"got", number_json(mismatch.got)},
          {"expected", number_json(mismatch.expected)},
          {"limit", number_json(mismatch.limit)},
          {"worst_ratio", number_json(mismatch.worst_ratio)},
          {"pattern", mismatch.pattern}};
}

void from_json(const nlohmann::json& json, Mismatch& mismatch) {
  json.at("tensor").get_to(mismatch.tensor);
  json.at("wrong").get_to(mismatch.wrong);
  json.at("total").get_to(mismatch.total);
  json.at("first_index").get_to(mismatch.first_index);
  json.at("first_position").get_to(mismatch.first_position);
  mismatch.got = number_of(json.at("got"));
  mismatch.expected = number_of(json.at("expected"));
  mismatch.limit = number_of(json.at("limit"));
  mismatch.worst_ratio = number_of(json.at("worst_ratio"));
  json.at("pattern").get_to(mismatch.pattern);
}

} // namespace winnow::tasks
