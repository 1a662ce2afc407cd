#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::harness {

constexpr const char* kLocalOwner = "local"; ///< of requests without a token

/// Whose a request is.
struct Client {
  std::string owner;
  /// Sees the board and what belongs to other owners.
  bool reads_all = false;
  std::size_t evaluations = 0; ///< that it may have judged; 0: any number

  /// The owner whose jobs the client may see; empty: all.
  std::string sees() const { return reads_all ? "" : owner; }
};

/// The tokens of a server, and whose they are. A token never appears in a message or a log.
class Access {
public:
  Access() = default; ///< without a token everybody is let in, as kLocalOwner
  /// Throws UsageError for a token that is too short, or that another owner has, and for a name
  /// that is no plain word.
  void add(Client client, const std::string& token);
  /// A token a line, with the name of its owner before it if there are several: "alice TOKEN".
  /// Empty lines and lines that begin with # do not count. "alice TOKEN reads_all" marks an owner
  /// that sees all, "alice TOKEN evaluations=100" one that may have so many kernels judged. Throws
  /// UsageError with the line's number, and if others may read the file.
  void add_file(const std::filesystem::path& file);
  /// The only token in a file, for an owner "board" that sees all.
  void add_board_file(const std::filesystem::path& file);
  /// The token in an environment variable, which is removed. Throws UsageError if the variable is
  /// not set.
  void add_variable(const std::string& name);

  bool has_tokens() const { return !owners_.empty(); }
  /// That send kernels: the owner of add_board_file() does not count beside others.
  std::size_t owners() const;
  /// Tokens, with that of the board; 1 without tokens. For bounds of the network, and for what one
  /// could learn about another.
  std::size_t clients() const;
  void let_all_read();                                        ///< every owner sees all
  std::size_t evaluations_of(const std::string& owner) const; ///< Client::evaluations
  /// The client with the token in an Authorization field: "Bearer TOKEN", or "Basic ..." with the
  /// token as the password. nullopt: there is no such token. Takes the same time for all wrong
  /// tokens.
  std::optional<Client> client_of(std::string_view authorization) const;

private:
  void add_line(const std::vector<std::string>& words);

  struct Owner {
    Client client;
    std::string digest; ///< SHA-256 of the token
  };
  std::vector<Owner> owners_;
  bool has_board_ = false;
};

} // namespace winnow::harness
