#include "tasks/task/task_places.h"

#include "base/text/toml_reader.h"

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

std::string place(const Task& task, const JsonValue* value) {
  const std::string file = (task.folder / "task.toml").string();
  return value == nullptr ? file : fmt::format("{}:{}:{}", file, value->at.line, value->at.column);
}

TomlReader reader(const Task& task) {
  return TomlReader::parse(task.task_toml, (task.folder / "task.toml").string());
}

} // namespace

std::string place_of_key(const Task& task, std::string_view key) {
  const TomlReader root = reader(task);
  return place(task, root.has(key) ? &root.value(key, "") : nullptr);
}

std::string place_of_tensor(const Task& task, std::string_view name) {
  const TomlReader root = reader(task);
  return place(task, root.has("tensors") ? root.value("tensors", "").find(name) : nullptr);
}

std::string place_of_shape(const Task& task, const Shape& shape) {
  const TomlReader root = reader(task);
  const JsonValue* sets = root.has("shapes") ? &root.value("shapes", "") : nullptr;
  const JsonValue* set = sets == nullptr ? nullptr : sets->find(to_string(shape.set));
  const std::size_t position = position_in_set(shape);
  return place(task,
               set == nullptr || position >= set->items.size() ? nullptr : &set->items[position]);
}

} // namespace winnow::tasks
