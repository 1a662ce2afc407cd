#pragma once

#include "tasks/task/task.h"

#include <optional>
#include <string>
#include <string_view>

namespace winnow::tasks {

/// A kernel of another task, for prompts.
struct Exemplar {
  std::string name;  ///< of the other task
  std::string title; ///< of the other task
  std::string text;  ///< its baseline for this kind of device
};

/// The baseline of the next task, by name, in the category's folder; after the last task comes the
/// first one. nullopt: no other task there has a baseline.cu. Ignores tasks that do not load.
std::optional<Exemplar> exemplar_for(const Task& task, std::string_view device_kind);

} // namespace winnow::tasks
