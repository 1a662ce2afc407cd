#pragma once

#include "tasks/result/evaluation.h"

#include <nlohmann/json_fwd.hpp>

namespace winnow::tasks {

/// JSON has no infinities and no NaN: they are the strings "inf", "-inf" and "nan". The one form
/// that the worker protocol, the store and the exports share.
nlohmann::json number_json(double value);
/// Throws std::invalid_argument or a nlohmann exception for anything else.
double number_of(const nlohmann::json& json);

void to_json(nlohmann::json& json, const Mismatch& mismatch);
void from_json(const nlohmann::json& json, Mismatch& mismatch);

} // namespace winnow::tasks
