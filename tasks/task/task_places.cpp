#include "tasks/task/task_places.h"

#include "base/text/toml_reader.h"

namespace winnow::tasks {
namespace {

std::string file_of(const Task& task) {
  return (task.folder / "task.toml").string();
}

std::optional<TomlReader> find(const Task& task, std::string_view key) {
  return TomlReader::parse(task.task_toml, file_of(task)).find(key);
}

std::string place(const Task& task, const std::optional<TomlReader>& value) {
  return value ? value->place() : file_of(task);
}

} // namespace

std::string place_of_key(const Task& task, std::string_view key) {
  return place(task, find(task, key));
}

std::string place_of_tensor(const Task& task, std::string_view name) {
  const auto tensors = find(task, "tensors");
  return place(task, tensors ? tensors->find(name) : tensors);
}

std::string place_of_shape(const Task& task, const Shape& shape) {
  const auto sets = find(task, "shapes");
  const auto set = sets ? sets->find(to_string(shape.set)) : sets;
  const auto shapes = set ? set->items() : std::vector<TomlReader>();
  const std::size_t position = position_in_set(shape);
  return position < shapes.size() ? shapes[position].place() : file_of(task);
}

} // namespace winnow::tasks
