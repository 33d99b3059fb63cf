// Answers already found by the operations on diagrams. Lossy on purpose: a newer answer takes the
// place of an older one with the same slot, which costs time and never correctness. Grows with the
// work, up to kMaxEntries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bulkhead::compiler::proof::detail {

class Memo {
 public:
  struct Key {
    std::uint32_t operation = 0;  // 0: nothing stored
    std::uint32_t a = 0, b = 0, c = 0;
    bool operator==(const Key&) const = default;
  };

  // Null where the answer is not known (any more). Valid until the next store().
  [[nodiscard]] const std::uint32_t* find(const Key& key) const {
    const Entry& entry = entries_[hash(key) & (entries_.size() - 1)];
    return entry.key == key ? &entry.answer : nullptr;
  }

  void store(const Key& key, std::uint32_t answer) {
    if (++stored_ > entries_.size() && entries_.size() < kMaxEntries)
      grow();
    entries_[hash(key) & (entries_.size() - 1)] = {key, answer};
  }

  [[nodiscard]] std::size_t bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  struct Entry {
    Key key;
    std::uint32_t answer = 0;
  };
  static constexpr std::size_t kMaxEntries = std::size_t{1} << 22;  // 80 MB

  static std::size_t hash(const Key& key) {
    std::uint64_t hash = (std::uint64_t{key.a} << 32 | key.b) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    hash += std::uint64_t{key.c} << 32 | key.operation;
    hash *= 0xff51afd7ed558ccdu;
    return static_cast<std::size_t>(hash ^ (hash >> 32));
  }

  void grow() {
    std::vector<Entry> old(entries_.size() * 4);
    old.swap(entries_);
    for (const Entry& entry : old)
      if (entry.key.operation != 0)
        entries_[hash(entry.key) & (entries_.size() - 1)] = entry;
    stored_ = 0;
  }

  std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << 12);
  std::size_t stored_ = 0;
};

}  // namespace bulkhead::compiler::proof::detail
