#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <utility>

namespace winnow {

/// The values that were used last, by key; at most `most`.
template <typename Key, typename Value> class Recent {
public:
  explicit Recent(std::size_t most) : most_(most) {}

  /// nullptr: there is no such value. The pointer is valid until the value is dropped.
  Value* find(const Key& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) {
      return nullptr;
    }
    order_.splice(order_.begin(), order_, found->second.place);
    return &found->second.value;
  }
  /// `key` must be new. If there are too many values, drops the one that was not used for longest.
  Value& put(Key key, Value value) {
    if (entries_.size() == most_) {
      entries_.erase(*order_.back());
      order_.pop_back();
    }
    order_.push_front(nullptr);
    const auto put = entries_.try_emplace(std::move(key), std::move(value), order_.begin()).first;
    order_.front() = &put->first;
    return put->second.value;
  }
  void erase(const Key& key) {
    if (const auto found = entries_.find(key); found != entries_.end()) {
      order_.erase(found->second.place);
      entries_.erase(found);
    }
  }
  void clear() {
    order_.clear();
    entries_.clear();
  }

private:
  using Order = std::list<const Key*>; ///< last used first
  struct Entry {
    Entry(Value&& v, typename Order::iterator p) : value(std::move(v)), place(p) {}
    Value value;
    typename Order::iterator place;
  };

  std::size_t most_;
  Order order_;
  std::map<Key, Entry> entries_;
};

} // namespace winnow
