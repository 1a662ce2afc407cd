#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace winnow::evaluators::cpu {

/// When and by whom a byte was accessed. `segment` numbers the stretch of one block between two
/// barriers; 0: never.
struct Stamp {
  std::uint32_t segment : 31;
  std::uint32_t atomic : 1;
  std::uint32_t thread : 10;
  std::uint32_t clock : 22; ///< warp operations of that thread so far
};

/// What the checker remembers of one byte: vector types make accesses of every size and alignment,
/// half-precision neighbours share words, so nothing coarser is right.
struct ShadowCell {
  Stamp write;
  Stamp reads[2]; ///< of different threads
};

/// A range of memory that threads share, and its shadow (zero-filled, made on first touch).
struct ShadowRegion {
  enum class Kind : std::uint8_t { Buffer, Variable, StaticShared, DynamicShared };
  Kind kind = Kind::Buffer;
  std::string name;
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  ShadowCell* cells = nullptr;

  const std::byte* end() const { return begin + bytes; }
  bool shared() const { return kind == Kind::StaticShared || kind == Kind::DynamicShared; }
  std::string describe() const; ///< "shared array 'tile'"
};

/// Regions by address.
class ShadowMap {
public:
  ShadowMap() = default;
  ~ShadowMap() { clear(); }
  ShadowMap(const ShadowMap&) = delete; // owns the shadows' mappings
  ShadowMap& operator=(const ShadowMap&) = delete;

  /// Throws Error when the system has no memory left.
  void add(ShadowRegion::Kind kind, std::string name, const std::byte* begin, std::size_t bytes);
  void clear();
  /// The region with that byte, or null.
  ShadowRegion* find(const std::byte* address);
  /// The region that begins last at or before the address, or null.
  ShadowRegion* find_before(const std::byte* address);

private:
  std::vector<ShadowRegion> regions_; ///< by address
  std::size_t last_ = 0;
};

} // namespace winnow::evaluators::cpu
