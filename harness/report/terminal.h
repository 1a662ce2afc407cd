#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace winnow::harness {

bool stdout_is_terminal();
bool stderr_is_terminal();
std::size_t terminal_columns(); ///< of stderr; $COLUMNS if set; 80 if unknown
/// Columns of stdout; $COLUMNS if set; nullopt if stdout is not a terminal.
std::optional<std::size_t> output_columns();
constexpr std::size_t kUsualColumns = 80;

/// The store for a command that only reads: the given path, otherwise $WINNOW_STORE, otherwise the
/// newest *.db file in runs/. Throws UsageError if there is none.
std::string find_store(const std::string& given);
/// The store for a command that adds to it: the given path, otherwise $WINNOW_STORE, otherwise the
/// newest *.db file in runs/, otherwise runs/baselines.db. The file need not exist.
std::string find_store_to_write(const std::string& given);
/// The store that one of these functions has chosen by itself since the last call, and how: "a.db
/// (the newest; --store names another)". Empty: none.
std::string take_chosen_store();
/// Returns `path`. Throws UsageError if there is no such file.
std::string require_store(const std::string& path);

} // namespace winnow::harness
