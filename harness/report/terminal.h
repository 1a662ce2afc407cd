#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace winnow::harness {

bool stderr_is_terminal();
std::size_t terminal_columns(); ///< of stderr; $COLUMNS if set; 80 when unknown
/// Of stdout; $COLUMNS if set; nullopt where it is no terminal.
std::optional<std::size_t> output_columns();
constexpr std::size_t kUsualColumns = 80;

/// The store of a command that reads: the path given, else $WINNOW_STORE, else the newest *.db file
/// in runs/. Throws UsageError when there is none.
std::string find_store(const std::string& given);
/// The store of a command that adds to one: the path given, else $WINNOW_STORE, else the newest
/// *.db file in runs/, else runs/baselines.db. It need not exist.
std::string find_store_to_write(const std::string& given);
/// The same path. Throws UsageError when there is no such file.
std::string require_store(const std::string& path);

} // namespace winnow::harness
