#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace winnow::evaluators::cpu {

/// An access to a byte: its time and its thread. `segment` numbers the parts of a block between two
/// barriers; 0: no access yet.
struct Stamp {
  std::uint32_t segment : 31;
  std::uint32_t atomic : 1;
  std::uint32_t thread : 10;
  std::uint32_t clock : 22; ///< number of warp operations of that thread so far
};

/// The last accesses to one byte. A cell covers one byte because vector types make accesses of
/// every size and alignment, and half-precision neighbours share words.
struct ShadowCell {
  Stamp write;
  Stamp reads[2]; ///< of two different threads
};

/// A range of memory that threads share, with its shadow. The shadow starts as zeros and is
/// allocated on first touch.
struct ShadowRegion {
  enum class Kind : std::uint8_t { Buffer, Variable, StaticShared, DynamicShared };
  Kind kind = Kind::Buffer;
  std::string name;
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  ShadowCell* cells = nullptr;

  const std::byte* end() const { return begin + bytes; }
  bool shared() const { return kind == Kind::StaticShared || kind == Kind::DynamicShared; }
  bool in_module() const { return kind == Kind::StaticShared || kind == Kind::Variable; }
  std::string describe() const; ///< "shared array 'tile'"
};

/// Regions, sorted by address.
class ShadowMap {
public:
  ShadowMap() = default;
  ~ShadowMap() { clear(); }
  ShadowMap(const ShadowMap&) = delete; // owns the mappings of the shadows
  ShadowMap& operator=(const ShadowMap&) = delete;

  /// Throws Error when the system has no memory left.
  void add(ShadowRegion::Kind kind, std::string name, const std::byte* begin, std::size_t bytes);
  void clear();
  /// The region that contains the byte, or null.
  ShadowRegion* find(const std::byte* address);
  /// The last region that begins at or before the address, or null.
  ShadowRegion* find_before(const std::byte* address);

private:
  std::vector<ShadowRegion> regions_; ///< sorted by address
  std::size_t last_ = 0;
};

} // namespace winnow::evaluators::cpu
