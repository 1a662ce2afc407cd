#pragma once

#include "store/run_store.h"

#include <cstdint>
#include <optional>
#include <string>

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

private:
  std::string path_;
  Use use_;
  std::optional<store::RunStore> store_;
};

} // namespace winnow::harness
