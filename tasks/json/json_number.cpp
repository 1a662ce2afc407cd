#include "tasks/json/json_number.h"

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

} // namespace winnow::tasks
