#include "evaluators/device/cpu/runtime/shadow.h"

#include "base/error.h"

#include <algorithm>

#include <sys/mman.h>

namespace winnow::evaluators::cpu {

std::string ShadowRegion::describe() const {
  switch (kind) {
  case Kind::StaticShared:
    return "shared array '" + name + "'";
  case Kind::DynamicShared:
    return "dynamic shared memory";
  case Kind::Variable:
    return "variable '" + name + "'";
  case Kind::Buffer:
    break;
  }
  return "buffer '" + name + "'";
}

void ShadowMap::add(ShadowRegion::Kind kind, std::string name, const std::byte* begin,
                    std::size_t bytes) {
  if (bytes == 0) {
    return;
  }
  void* cells = mmap(nullptr, bytes * sizeof(ShadowCell), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (cells == MAP_FAILED) {
    throw Error("no memory to check the accesses to '" + name + "' of " + std::to_string(bytes) +
                    " bytes",
                "check at smaller shapes or give the run more memory");
  }
  const ShadowRegion region{kind, std::move(name), begin, bytes, static_cast<ShadowCell*>(cells)};
  const auto after = std::upper_bound(
      regions_.begin(), regions_.end(), begin,
      [](const std::byte* address, const ShadowRegion& other) { return address < other.begin; });
  regions_.insert(after, region);
}

void ShadowMap::clear() {
  for (const ShadowRegion& region : regions_) {
    munmap(region.cells, region.bytes * sizeof(ShadowCell));
  }
  regions_.clear();
  last_ = 0;
}

ShadowRegion* ShadowMap::find(const std::byte* address) {
  if (last_ < regions_.size()) { // threads tend to stay in one array
    ShadowRegion& region = regions_[last_];
    if (address >= region.begin && address < region.end()) {
      return &region;
    }
  }
  ShadowRegion* region = find_before(address);
  if (region == nullptr || address >= region->end()) {
    return nullptr;
  }
  last_ = static_cast<std::size_t>(region - regions_.data());
  return region;
}

ShadowRegion* ShadowMap::find_before(const std::byte* address) {
  const auto after = std::upper_bound(
      regions_.begin(), regions_.end(), address,
      [](const std::byte* wanted, const ShadowRegion& region) { return wanted < region.begin; });
  return after == regions_.begin() ? nullptr : &*(after - 1);
}

} // namespace winnow::evaluators::cpu
