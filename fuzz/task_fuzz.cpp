#include "base/error.h"
#include "tasks/parse/task_parse.h"
#include "tasks/task/task.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

using namespace winnow::tasks;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const Task task = parse_task({text, "", "", ""}, "task.toml");
    for (const Shape& shape : task.shapes) {
      for (const TensorSpec& tensor : reference_view(task).tensors) {
        if (element_count(tensor, shape) < 1) {
          std::abort();
        }
      }
    }
  } catch (const winnow::UsageError&) { // the text has a mistake
  }
  return 0;
}
