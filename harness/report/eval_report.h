#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

// These functions take a document of schema "winnow.evaluation".

/// An evaluation for users: a line for each case, the verdict, the reason and notes. Of hidden
/// shapes only the verdict appears. `task_word`: tasks::task_word(), for a hint; empty: not known.
std::string eval_text(const nlohmann::json& evaluation, std::string_view task_word = {});
/// For a kernel that is not correct: "is not correct" or "was not judged".
std::string_view why_not_measured(const nlohmann::json& evaluation);
/// What the kernel is compared with: "the speed of baseline.cu".
std::string rival_speed(const nlohmann::json& evaluation);
/// For a file that is no kernel file: what Winnow needs instead.
std::string kernel_form(std::string_view task_word);
/// The device, the seed of `evaluation` and the duration of `document`. If boards do not rank the
/// evaluation, a second line says so.
std::string circumstances_text(const nlohmann::json& document, const nlohmann::json& evaluation);
} // namespace winnow::harness
