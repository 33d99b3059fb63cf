// Keys of a map, many at once: one walk down the digits of all of them, which makes only the nodes
// of the answer.
#include <algorithm>
#include <unordered_map>

#include "compiler/proof/diagram.h"
#include "compiler/proof/diagram_scratch.h"

namespace bulkhead::compiler::proof {

using detail::Index;

namespace {

constexpr Terminal kHole = kMaxTerminal + 1;
// Keys in one walk. A key that does not say a field goes along wherever the others part, so maps
// are walked in pieces (measured: docs/adr/0004-packet-sets.md).
constexpr std::size_t kKeysAtOnce = 128;

struct HashOfList {
  std::size_t operator()(const std::vector<std::uint32_t>& list) const {
    std::uint64_t hash = list.size();
    for (const std::uint32_t one : list) {
      hash = (hash ^ one) * 0xff51afd7ed558ccdu;
      hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash);
  }
};

}  // namespace

class Diagrams::MapWalk {
 public:
  MapWalk(Diagrams& space, std::span<const Key> keys, Index outside)
      : space_(space), outside_(outside) {
    for (const Key& key : keys)
      add(key);
  }

  Index run() {
    std::vector<std::uint32_t> all(keys_.size());
    for (std::uint32_t i = 0; i < all.size(); ++i)
      all[i] = i;
    return fields(Field{}, all);
  }

 private:
  using Range = std::pair<Field, ValueRange>;
  struct Item {  // what is left of a key's range behind the digits walked
    std::uint32_t key = 0;
    Value low = 0, high = 0;
  };

  void add(const Key& key) {
    Key sorted = key;
    std::sort(sorted.fields.begin(), sorted.fields.end());
    for (auto& [field, range] : sorted.fields) {
      const Value max = max_of(space_.fields_[static_cast<std::size_t>(field)]);
      if (range.first > range.last || range.first > max)
        return;  // nothing has this key
      range.last = std::min(range.last, max);
    }
    keys_.push_back(std::move(sorted));
  }

  // The first range that a key says of this field or a later one.
  const Range* next(std::uint32_t key, Field field) const {
    for (const Range& range : keys_[key].fields)
      if (range.first >= field)
        return &range;
    return nullptr;
  }

  // The keys of a list, from a field on. The first of those that say no more ends the list.
  Index fields(Field from, std::vector<std::uint32_t>& list) {
    Field field{};
    bool any = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Range* range = next(list[i], from);
      if (range == nullptr) {
        list.resize(i + 1);
        break;
      }
      field = any ? std::min(field, range->first) : range->first;
      any = true;
    }
    if (list.empty())
      return outside_;
    if (!any)
      return space_.constant(keys_[list[0]].gives).index_;

    list.push_back(static_cast<std::uint32_t>(field));
    if (const auto known = known_.find(list); known != known_.end())
      return known->second;
    const std::uint16_t level = space_.first_level(field);
    std::vector<Item> items;
    items.reserve(list.size() - 1);
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {
      const Range* range = next(list[i], field);
      const bool says = range != nullptr && range->first == field;
      items.push_back(
          {list[i], says ? range->second.first : 0, says ? range->second.last : highest(level)});
    }
    const Index made = digits(level, items);
    known_.emplace(std::move(list), made);
    return made;
  }

  // All that the digits of a field can say from this one on.
  [[nodiscard]] Value highest(std::uint16_t level) const {
    const Level& digit = space_.levels_[level];
    return (Value{digit.max} << digit.shift) | ((Value{1} << digit.shift) - 1);
  }

  Index digits(std::uint16_t level, const std::vector<Item>& items) {
    space_.count_step();
    const Level digit = space_.levels_[level];
    const Value below = (Value{1} << digit.shift) - 1;
    const auto number = [&](Value value) {
      return static_cast<std::uint32_t>(value >> digit.shift);
    };
    // Where the answer may change: a digit that a range has only a part of stands alone.
    std::vector<std::uint32_t> begins{0};
    for (const Item& item : items) {
      begins.push_back(number(item.low));
      begins.push_back(number(item.high) + 1);
      if ((item.low & below) != 0)
        begins.push_back(number(item.low) + 1);
      if ((item.high & below) != below)
        begins.push_back(number(item.high));
    }
    std::sort(begins.begin(), begins.end());
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
    if (begins.back() > digit.max)
      begins.pop_back();

    Scratch scratch(space_.scratch_);
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const std::uint32_t first = begins[i];
      const std::uint32_t last = i + 1 < begins.size() ? begins[i + 1] - 1 : digit.max;
      std::vector<Item> inside;
      bool whole = true;  // nothing more of this field is asked
      for (const Item& item : items) {
        if (number(item.low) > first || number(item.high) < last)
          continue;
        const Value low = number(item.low) == first ? item.low & below : 0;
        const Value high = number(item.high) == last ? item.high & below : below;
        whole &= low == 0 && high == below;
        inside.push_back({item.key, low, high});
      }
      const Index child =
          whole ? behind(digit, inside) : digits(static_cast<std::uint16_t>(level + 1), inside);
      scratch.push(child, static_cast<std::uint16_t>(last));
    }
    return space_.make(level, scratch.edges());
  }

  Index behind(const Level& digit, const std::vector<Item>& items) {
    std::vector<std::uint32_t> list;
    list.reserve(items.size() + 1);
    for (const Item& item : items)
      list.push_back(item.key);
    return fields(static_cast<Field>(static_cast<std::size_t>(digit.field) + 1), list);
  }

  Diagrams& space_;
  Index outside_;
  std::vector<Key> keys_;
  std::unordered_map<std::vector<std::uint32_t>, Index, HashOfList> known_;
};

Diagram Diagrams::map(std::span<const Key> keys, Terminal otherwise) {
  if (keys.size() <= kKeysAtOnce)
    return Diagram(MapWalk(*this, keys, constant(otherwise).index_).run());
  std::vector<Diagram> row;
  for (; !keys.empty(); keys = keys.subspan(std::min(kKeysAtOnce, keys.size())))
    row.push_back(Diagram(
        MapWalk(*this, keys.first(std::min(kKeysAtOnce, keys.size())), constant(kHole).index_)
            .run()));
  row.push_back(constant(otherwise));
  return fill(row, kHole);
}

}  // namespace bulkhead::compiler::proof
