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

/// A child's mapping of the inherited arena. Throws Error when the child inherited none. The
/// mapping comes back when the child uses it after hide().
class ArenaView {
public:
  explicit ArenaView(int fd);
  ~ArenaView();
  ArenaView(const ArenaView&) = delete; // owns the mapping
  ArenaView& operator=(const ArenaView&) = delete;
  std::span<std::byte> all() const { return slice(0, bytes_); }
  /// Throws Error when the range lies outside of the arena.
  std::span<std::byte> slice(std::uint64_t offset, std::uint64_t bytes) const;
  /// Takes the mapping away while device code runs in this address space. Slices become invalid.
  void hide() const noexcept;

private:
  void map() const;

  int fd_;
  mutable std::byte* data_ = nullptr; ///< null while hidden
  std::uint64_t bytes_ = 0;
};

} // namespace winnow::evaluators
