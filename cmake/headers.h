// Precompiled: what most folders include. No file may rely on this header: preset `dev` compiles
// without it.
#pragma once

#include "base/error.h"
#include "base/files.h"
#include "process/child_process.h"
#include "tasks/plan/resolve/plan_resolve.h"
#include "tasks/result/evaluation.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::precompiled {

// Each file that converts a value to JSON would instantiate the templates below again. That takes
// the compiler longer than to parse the header. Nothing calls this function.
inline void use_json(nlohmann::json& json) {
  json = nlohmann::json{{"a", "b"},
                        {"ab", "ab"},
                        {"abc", "abc"},
                        {"abcd", 1},
                        {"abcde", 1.5},
                        {"abcdef", true},
                        {"abcdefg", 1},
                        {"abcdefgh", 1},
                        {"abcdefghi", std::string()},
                        {"abcdefghij", std::size_t{1}},
                        {"abcdefghijk", std::int64_t{1}},
                        {"abcdefghijkl", std::uint64_t{1}},
                        {"abcdefghijklm", nlohmann::json::array()},
                        {"abcdefghijklmn", nlohmann::json::object()}};
  json["a"] = json.at("a").dump();
  json.push_back(json == json || json == 1 || json == "a");
  json = nlohmann::json::parse(json.value("a", std::string()), nullptr, false);
  const std::string text = json.value("a", "") + json.get<std::string>();
  json["a"] = nlohmann::json::parse(text).value("a", json.value("a", 1.5) + json.value("a", 1));
  json["a"] = json.get<int>() + json.get<double>() + (json.value("a", true) ? 1 : 0);
  for (const auto& [key, value] : json.items()) {
    json[key] = value;
  }
  json["a"] = json.get<std::vector<std::string>>();
}

} // namespace winnow::precompiled
