#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace winnow::evaluators {

/// Shared memory for the tensor data of the coordinator's children: a sealed, sparse memory file of
/// fixed size. The coordinator creates the file and passes the descriptor on. The coordinator
/// never reads the data.
class Arena {
public:
  /// Throws Error.
  explicit Arena(std::uint64_t bytes);
  ~Arena();
  Arena(const Arena&) = delete; // owns the descriptor
  Arena& operator=(const Arena&) = delete;

  int fd() const { return fd_; }
  std::uint64_t size_bytes() const { return bytes_; }
  /// Gives the pages back to the system. All bytes read as 0 afterwards.
  void clear();

private:
  int fd_;
  std::uint64_t bytes_;
};

/// A child's mapping of the inherited arena. Throws Error when the child inherited none.
class ArenaView {
public:
  explicit ArenaView(int fd);
  ~ArenaView();
  ArenaView(const ArenaView&) = delete; // owns the mapping
  ArenaView& operator=(const ArenaView&) = delete;
  std::span<std::byte> all() const { return {data_, bytes_}; }
  /// Throws Error when the range lies outside of the arena.
  std::span<std::byte> slice(std::uint64_t offset, std::uint64_t bytes) const;

private:
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

} // namespace winnow::evaluators
