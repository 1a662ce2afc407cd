#include "store/task_folders.h"

#include "base/secrets.h"
#include "store/database.h"
#include "tasks/task_word.h"

namespace winnow::store {
namespace {

std::string folder_seal(const std::string& name, const std::string& folder) {
  return user_seal("task folder", name + '\n' + folder);
}

} // namespace

std::string task_folder(const RunStore& store, const std::string& name) {
  std::string folder, seal;
  store.read([&](const Database& database) {
    Query query(database,
                "SELECT folder, folder_seal FROM tasks WHERE name = ? ORDER BY id DESC LIMIT 1");
    if (query.bind(name).next()) {
      folder = query.text("folder");
      seal = query.text("folder_seal");
    }
  });
  const bool is_own = !folder.empty() && !seal.empty() && seal == folder_seal(name, folder);
  return is_own ? folder : std::string();
}

void keep_task_folder(Database& database, const tasks::Task& task) {
  const std::string folder = tasks::own_folder(task).string();
  if (folder.empty()) {
    return;
  }
  Query(database, "UPDATE tasks SET folder = ?, folder_seal = ? WHERE name = ? AND digest = ?")
      .bind(folder, folder_seal(task.name, folder), task.name, task.digest)
      .run();
}

} // namespace winnow::store
