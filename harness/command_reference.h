#pragma once

#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace winnow::harness {

/// The manual page of the whole command line, in roff.
std::string man_page(const CLI::App& app);

/// Scripts that complete commands, options, tasks, strategies and the values that an option is
/// limited to.
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);

} // namespace winnow::harness
