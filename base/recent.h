#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <utility>

namespace winnow {

/// The values that were used last, by key; at most `most`. A look-up compares all keys, so `most`
/// should be small.
template <typename Key, typename Value> class Recent {
public:
  explicit Recent(std::size_t most) : most_(most) {}

  /// nullptr: there is no such value. The pointer is valid until the value is dropped.
  Value* find(const Key& key) {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&key](const auto& entry) { return entry.first == key; });
    if (found == entries_.end()) {
      return nullptr;
    }
    entries_.splice(entries_.begin(), entries_, found);
    return &found->second;
  }
  /// `key` must be new. If there are too many values, drops the one that was not used for longest.
  Value& put(Key key, Value value) {
    entries_.emplace_front(std::move(key), std::move(value));
    if (entries_.size() > most_) {
      entries_.pop_back();
    }
    return entries_.front().second;
  }
  void erase(const Key& key) {
    entries_.remove_if([&key](const auto& entry) { return entry.first == key; });
  }
  void clear() { entries_.clear(); }

private:
  std::size_t most_;
  std::list<std::pair<Key, Value>> entries_; ///< last used first
};

} // namespace winnow
