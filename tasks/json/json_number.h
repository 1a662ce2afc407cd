#pragma once

#include <nlohmann/json_fwd.hpp>

namespace winnow::tasks {

/// A number as JSON. JSON has no infinities and no NaN; they become the strings "inf", "-inf" and
/// "nan". The worker protocol, the store and the exports share this form.
nlohmann::json number_json(double value);
/// The inverse of number_json(). Throws std::invalid_argument or a nlohmann exception for other
/// JSON.
double number_of(const nlohmann::json& json);

} // namespace winnow::tasks
