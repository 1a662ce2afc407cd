#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace winnow::evaluators::cpu {

/// One buffer in a mapping of its own, between inaccessible pages, far from all other memory. It
/// ends as near to the rear guard pages as the 16-byte alignment of its start allows. guard_core.h
/// defines the bytes between the data and the guard pages.
struct GuardedBuffer {
  std::string name;
  std::size_t set = 0;       ///< see Device::select_buffers()
  std::byte* zone = nullptr; ///< the whole mapping with its guards
  std::size_t zone_bytes = 0;
  std::byte* pages = nullptr; ///< the accessible pages
  std::size_t pages_bytes = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  bool read_only = false; ///< for launches; the host can still write
};

class GuardedBuffers {
public:
  GuardedBuffers();
  ~GuardedBuffers() { clear(); }
  GuardedBuffers(const GuardedBuffers&) = delete; // owns mappings
  GuardedBuffers& operator=(const GuardedBuffers&) = delete;

  /// Throws Error when the system has no memory left.
  std::size_t allocate(const std::string& name, std::size_t bytes, bool read_only);
  void clear();
  void select(std::size_t set, std::size_t shared) {
    selected_ = set;
    shared_ = shared;
  }
  const GuardedBuffer& at(std::size_t index) const { return buffers_.at(index); }
  /// Looks in the selected and the shared set. nullptr when no buffer has the name. If several have
  /// it, returns the newest.
  const GuardedBuffer* find(const std::string& name) const;
  /// The buffer whose mapping is nearest to the address; null when there is no buffer.
  const GuardedBuffer* nearest(const std::byte* address) const;
  const std::vector<GuardedBuffer>& all() const { return buffers_; }

  /// Makes read-only buffers unwritable, or with false writable again, for uploads.
  void protect(bool on);
  /// Describes the first changed byte between a buffer and its guards.
  std::optional<std::string> changed_poison() const;

private:
  std::vector<GuardedBuffer> buffers_;
  std::uint64_t salt_; ///< salt of the bytes around buffers
  std::size_t selected_ = 0;
  std::size_t shared_ = 0;
  bool protected_ = false;
};

/// Whether all of these bytes are in `whole`.
bool holds(std::span<const std::byte> whole, const void* begin, std::size_t bytes);
/// Fills shared memory with bytes that are NaN in every floating type.
std::byte poison_at(const std::byte* address); ///< the byte that poison() puts there
void poison(std::byte* begin, const std::byte* end);
GuardedBuffer map_guarded(const std::string& name, std::size_t bytes, bool read_only);
/// How far the address is from the buffer's mapping with its guards; 0: inside of it.
std::size_t distance_to(const GuardedBuffer& buffer, const std::byte* address);
void unmap_guarded(const GuardedBuffer& buffer) noexcept;

// Each mapping of a buffer gets a random place in the address space. Nothing else is mapped within
// 64 GiB of it. So no index of 32 bits leads to other memory, and no distance that a kernel could
// know leads to another buffer.

/// An address for a mapping of `bytes`, for mmap() without MAP_FIXED. Null: no place is free or
/// large enough, so the system chooses.
void* take_place(std::size_t bytes);
/// Frees the place of a mapping that begins at `address`, or does nothing if it is in none.
void free_place(const void* address) noexcept;

} // namespace winnow::evaluators::cpu
