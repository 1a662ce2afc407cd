#pragma once

#include "harness/client/judge_server.h"
#include "store/run_store.h"
#include "tasks/task/task.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// The store of a command: opened when the command first needs it, and only once.
class CommandStore {
public:
  enum class Use : std::uint8_t { Read, Keep };

  /// `path`: as the command line names it. Empty: the store that `winnow leaderboard` shows, which
  /// is only read. Use::Keep: the command adds to a store that it names.
  explicit CommandStore(std::string path, Use use = Use::Read);

  /// Throws UsageError if there is no such store.
  const store::RunStore& to_read();
  /// Creates the store that the command names if there is none.
  store::RunStore& to_keep();
  /// Opens the store if the command adds to it. Throws before minutes of measuring.
  void open_if_kept();
  /// Whether the command adds to the store.
  bool keeps() const { return use_ == Use::Keep && !path_.empty(); }
  const std::string& path() const { return path_; } ///< as the command line names it
  /// Candidates are those of a server from now on.
  void look_up_at(const ServerOptions& server) { server_ = server; }
  const std::optional<ServerOptions>& server() const { return server_; }

private:
  std::string path_;
  Use use_;
  std::optional<store::RunStore> store_;
  std::optional<ServerOptions> server_;
};

/// What a command does with a task. To judge it, or to show it to a model, the task must be filled
/// in: then the functions throw as tasks::check_reference().
enum class TaskUse : std::uint8_t { Judge, Show };

/// The task that a command line names: a name of the catalogue, category/name, a folder, or the
/// name of a task outside of the catalogue whose folder the store remembers. `store`: the store of
/// the command; empty: the one that `winnow leaderboard` shows. Throws UsageError with the nearest
/// name.
tasks::Task named_task(const std::string& name, CommandStore& store, TaskUse use = TaskUse::Judge);
tasks::Task named_task(const std::string& name, const std::string& store = {},
                       TaskUse use = TaskUse::Judge);
/// The same, to judge each of them; the whole catalogue if there are no names.
std::vector<tasks::Task> named_tasks(const std::vector<std::string>& names,
                                     const std::string& store = {});

/// The task of a store's rows: of the folder that the command line has named (name_in_stores()), of
/// the one that the store remembers, else of the catalogue.
tasks::Task task_of_store(const store::RunStore& store, const std::string& name,
                          TaskUse use = TaskUse::Judge);

/// The word for a command line that names the task of a store's rows (tasks::task_word).
std::string word_of_store(const store::RunStore& store, const std::string& name);

/// The name that a store's rows have for a task that is given by name, category/name or folder.
std::string name_in_stores(const std::string& given);

} // namespace winnow::harness
