#include "evaluators/device/cpu/runtime/guarded_buffers.h"

#include "base/error.h"
#include "base/random_bits.h"
#include "evaluators/device/guard_core.h"

#include <algorithm>
#include <bitset>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>

#include <sys/mman.h>
#include <unistd.h>

namespace winnow::evaluators::cpu {
namespace {

// Wide enough that an index that is a row or two off still hits the guard.
constexpr std::size_t kGuardBytes = std::size_t{1} << 20;
constexpr std::size_t kAlignment = 16; // enough for vector types; a GPU aligns to 256

std::size_t align_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::byte guard_byte(std::uint64_t salt, const std::byte* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return static_cast<std::byte>(guard_word(salt, address) >> (8 * (address % 8)));
}

void fill_guard(std::uint64_t salt, std::byte* begin, const std::byte* end) {
  for (std::byte* at = begin; at != end; ++at) {
    *at = guard_byte(salt, at);
  }
}

/// Reserves an inaccessible range at a place of its own. Null when the system has no memory left.
std::byte* map_zone(std::size_t bytes) {
  void* place = take_place(bytes);
  void* zone = mmap(place, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (zone != place) {
    free_place(place); // the system chose another address
  }
  return zone == MAP_FAILED ? nullptr : static_cast<std::byte*>(zone);
}

void unmap_zone(std::byte* zone, std::size_t bytes) noexcept {
  munmap(zone, bytes);
  free_place(zone);
}

const std::byte* first_changed(std::uint64_t salt, const std::byte* begin, const std::byte* end) {
  for (const std::byte* at = begin; at != end; ++at) {
    if (*at != guard_byte(salt, at)) {
      return at;
    }
  }
  return nullptr;
}

// Systems with addresses of 48 bits put programs, heaps, libraries and stacks elsewhere.
constexpr std::uintptr_t kFirstPlace = std::uintptr_t{0x11} << 40U;
constexpr std::size_t kPlaces = 512;
constexpr std::uintptr_t kPlaceBytes = std::uintptr_t{128} << 30U;
// A mapping begins in the first quarter of its place and has at most a quarter's size. So at least
// half a place is free behind it, and half a place before it.
constexpr std::uintptr_t kQuarter = kPlaceBytes / 4;
constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20U; // keeps mappings fit for huge pages

std::mutex g_mutex;
std::bitset<kPlaces> g_taken;

} // namespace

bool holds(std::span<const std::byte> whole, const void* begin, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(begin);
  const std::byte* end = whole.data() + whole.size();
  return first >= whole.data() && first < end && bytes <= static_cast<std::size_t>(end - first);
}

std::byte poison_at(const std::byte* address) {
  return (reinterpret_cast<std::uintptr_t>(address) & 1) != 0 ? std::byte{0xff} : std::byte{0xfe};
}

void poison(std::byte* begin, const std::byte* end) {
  for (std::byte* at = begin; at != end; ++at) {
    *at = poison_at(at);
  }
}

GuardedBuffer map_guarded(const std::string& name, std::size_t bytes, bool read_only) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  GuardedBuffer buffer;
  buffer.name = name;
  buffer.bytes = bytes;
  buffer.read_only = read_only;
  buffer.pages_bytes = align_up(bytes, page);
  buffer.zone_bytes = buffer.pages_bytes + 2 * kGuardBytes;
  buffer.zone = map_zone(buffer.zone_bytes);
  if (buffer.zone == nullptr) {
    throw Error("no memory for buffer '" + name + "' of " + std::to_string(bytes) +
                    " bytes: " + std::strerror(errno),
                "give the run more memory or use smaller shapes");
  }
  buffer.pages = buffer.zone + kGuardBytes;
  buffer.data = buffer.pages + (buffer.pages_bytes - align_up(bytes, kAlignment));
  if (buffer.pages_bytes != 0 &&
      mprotect(buffer.pages, buffer.pages_bytes, PROT_READ | PROT_WRITE) != 0) {
    unmap_zone(buffer.zone, buffer.zone_bytes);
    throw Error("no memory for buffer '" + name + "' of " + std::to_string(bytes) +
                    " bytes: " + std::strerror(errno),
                "give the run more memory or use smaller shapes");
  }
  return buffer;
}

void unmap_guarded(const GuardedBuffer& buffer) noexcept {
  unmap_zone(buffer.zone, buffer.zone_bytes);
}

std::size_t distance_to(const GuardedBuffer& buffer, const std::byte* address) {
  const std::byte* end = buffer.zone + buffer.zone_bytes;
  return static_cast<std::size_t>(address < buffer.zone ? buffer.zone - address
                                  : address < end       ? 0
                                                        : address - end);
}

GuardedBuffers::GuardedBuffers() : salt_(random_bits()) {}

std::size_t GuardedBuffers::allocate(const std::string& name, std::size_t bytes, bool read_only) {
  protect(false);
  GuardedBuffer buffer = map_guarded(name, bytes, read_only);
  buffer.set = selected_;
  fill_guard(salt_, buffer.pages, buffer.data);
  fill_guard(salt_, buffer.data + bytes, buffer.pages + buffer.pages_bytes);
  buffers_.push_back(std::move(buffer));
  return buffers_.size() - 1;
}

void GuardedBuffers::clear() {
  for (const GuardedBuffer& buffer : buffers_) {
    unmap_guarded(buffer);
  }
  buffers_.clear();
  ++salt_; // every buffer gets another pattern
  selected_ = shared_ = 0;
  protected_ = false;
}

const GuardedBuffer* GuardedBuffers::find(const std::string& name) const {
  for (const std::size_t set : {selected_, shared_}) {
    for (auto buffer = buffers_.rbegin(); buffer != buffers_.rend(); ++buffer) {
      if (buffer->set == set && buffer->name == name) {
        return &*buffer;
      }
    }
  }
  return nullptr;
}

const GuardedBuffer* GuardedBuffers::nearest(const std::byte* address) const {
  const auto nearest = std::min_element(buffers_.begin(), buffers_.end(),
                                        [&](const GuardedBuffer& a, const GuardedBuffer& b) {
                                          return distance_to(a, address) < distance_to(b, address);
                                        });
  return nearest == buffers_.end() ? nullptr : &*nearest;
}

void GuardedBuffers::protect(bool on) {
  if (on == protected_) {
    return;
  }
  for (const GuardedBuffer& buffer : buffers_) {
    if (buffer.read_only && buffer.pages_bytes != 0 &&
        mprotect(buffer.pages, buffer.pages_bytes, on ? PROT_READ : PROT_READ | PROT_WRITE) != 0) {
      throw Error("cannot change the protection of buffer '" + buffer.name +
                  "': " + std::strerror(errno));
    }
  }
  protected_ = on;
}

std::optional<std::string> GuardedBuffers::changed_poison() const {
  for (const GuardedBuffer& buffer : buffers_) {
    if (const std::byte* at = first_changed(salt_, buffer.pages, buffer.data); at != nullptr) {
      return "buffer '" + buffer.name + "' was written " + std::to_string(buffer.data - at) +
             " bytes before its start";
    }
    const std::byte* end = buffer.data + buffer.bytes;
    if (const std::byte* at = first_changed(salt_, end, buffer.pages + buffer.pages_bytes);
        at != nullptr) {
      return "buffer '" + buffer.name + "' was written at byte " +
             std::to_string(at - buffer.data) + " of " + std::to_string(buffer.bytes) + " bytes";
    }
  }
  return std::nullopt;
}

void* take_place(std::size_t bytes) {
  if (bytes > kQuarter) {
    return nullptr;
  }
  const std::uint64_t draw = random_bits();
  const std::uintptr_t shift = (draw >> 32U) % (kQuarter / kHugePage) * kHugePage;
  const std::lock_guard lock(g_mutex);
  for (std::size_t i = 0; i < kPlaces; ++i) {
    const std::size_t place = (draw + i) % kPlaces;
    if (!g_taken[place]) {
      g_taken.set(place);
      return reinterpret_cast<void*>(kFirstPlace + place * kPlaceBytes + shift); // NOLINT
    }
  }
  return nullptr;
}

void free_place(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at >= kFirstPlace && at < kFirstPlace + kPlaces * kPlaceBytes) {
    const std::lock_guard lock(g_mutex);
    g_taken.reset((at - kFirstPlace) / kPlaceBytes);
  }
}

} // namespace winnow::evaluators::cpu
