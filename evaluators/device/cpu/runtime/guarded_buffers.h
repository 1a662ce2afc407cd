#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators::cpu {

/// One buffer in a mapping of its own: inaccessible pages before and after, the end as near to the
/// last guard as 16-byte alignment of the start allows. Bytes between guard and data are as
/// guard_core.h says.
struct GuardedBuffer {
  std::string name;
  std::size_t set = 0;       ///< see Device::select_buffers()
  std::byte* zone = nullptr; ///< guards included
  std::size_t zone_bytes = 0;
  std::byte* pages = nullptr; ///< accessible
  std::size_t pages_bytes = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  bool read_only = false; ///< as the launches see it
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
  /// In the selected set or the shared one. nullptr when there is none of that name; the last one
  /// when there are several.
  const GuardedBuffer* find(const std::string& name) const;
  const std::vector<GuardedBuffer>& all() const { return buffers_; }

  /// Makes read-only buffers unwritable (or writable again, for uploads).
  void protect(bool on);
  /// Names the first byte between a buffer and its guards that was changed.
  std::optional<std::string> changed_poison() const;

private:
  std::vector<GuardedBuffer> buffers_;
  std::uint64_t salt_; ///< of the bytes round buffers
  std::size_t selected_ = 0;
  std::size_t shared_ = 0;
  bool protected_ = false;
};

/// Fills shared memory with bytes that are NaN as any floating type.
void poison(std::byte* begin, const std::byte* end);
GuardedBuffer map_guarded(const std::string& name, std::size_t bytes, bool read_only);
void unmap_guarded(const GuardedBuffer& buffer) noexcept;

} // namespace winnow::evaluators::cpu
