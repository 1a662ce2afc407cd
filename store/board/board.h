#pragma once

#include "store/run_store.h"

#include <cstddef>
#include <string>

namespace winnow::store {

struct BoardOptions {
  LeaderboardQuery query; ///< `top` is ignored
  bool with_prompts = false;
  std::size_t max_bytes =
      20'000'000; ///< of the page; what exceeds it is left out, in a fixed order
  std::string winnow_version;
  /// The document "winnow.suite" that the page Models shows, as JSON; empty: none.
  std::string suite;
  /// A page that a server sends: the version of its data, by which the page notices newer data at
  /// the server's /version. Empty: a file.
  std::string live_version;
  /// Commands name the store by its path, as the user gave it. False: by its file's name, for
  /// readers who are not at this machine.
  bool names_folder = false;
};

/// One HTML file that shows the store in a browser, offline. All of it may leave the machine: of
/// hidden shapes it has only the verdicts, and it has prompts and replies only if they are asked
/// for.
std::string board_page(const RunStore& store, const BoardOptions& options);

} // namespace winnow::store
