#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::harness {

/// The tokens of a server, and whose they are. A token never appears in a message or a log.
class Access {
public:
  Access() = default; ///< without a token everybody is let in, under the name "local"
  void add(std::string owner,
           const std::string& token); ///< throws UsageError for a token that is too short
  /// A token a line, with the name of its owner before it if there are several: "alice TOKEN".
  /// Empty lines and lines that begin with # do not count. Throws UsageError with the line's
  /// number.
  void add_file(const std::filesystem::path& file);
  /// The token in an environment variable, which is removed. Throws UsageError if the variable is
  /// not set.
  void add_variable(const std::string& name);

  bool has_tokens() const { return !owners_.empty(); }
  std::size_t owners() const { return has_tokens() ? owners_.size() : 1; }
  /// The owner of the token in an Authorization field: "Bearer TOKEN", or "Basic ..." with the
  /// token as the password. nullopt: there is no such token. Takes the same time for all wrong
  /// tokens.
  std::optional<std::string> owner_of(std::string_view authorization) const;

private:
  struct Owner {
    std::string name;
    std::string digest; ///< SHA-256 of the token
  };
  std::vector<Owner> owners_;
};

} // namespace winnow::harness
