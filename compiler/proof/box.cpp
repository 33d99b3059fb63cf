#include "compiler/proof/box.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace bulkhead::compiler::proof {

namespace {

// Ranges of one field worth looking at; what a mask on low bits makes beyond them is left for the
// next box, or out of the report.
constexpr std::size_t kMaxBranches = 65'536;
// Children of one node up to which each is compared with each.
constexpr std::size_t kMaxCompared = 48;

// Fields that say which other fields exist. A box that is wider here than its other fields allow
// ("any family, to 10.0.0.1") would be right and unreadable.
bool is_guard(Field field) {
  return field == Field::Family || field == Field::Protocol || field == Field::Fragment;
}

std::vector<ValueRange> joined(std::vector<ValueRange> ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::vector<ValueRange> out;
  for (const auto& range : ranges) {
    if (!out.empty() && range.first == out.back().last + 1)
      out.back().last = range.last;
    else
      out.push_back(range);
  }
  return out;
}

// The largest box below each node, found once.
class Largest {
 public:
  explicit Largest(Diagrams& space) : space_(space) {}

  Box box(Diagram set) {
    Box out;
    while (!set.is_constant()) {
      const Best& best = of(set);
      const Value max = max_of(space_.fields()[static_cast<std::size_t>(*space_.root(set))]);
      if (best.ranges.front() != ValueRange{0, max})
        out.fields.emplace_back(*space_.root(set), best.ranges);
      set = best.rest;
    }
    return out;
  }

 private:
  struct Best {
    long double volume = 0;  // as a share of all packets
    std::vector<ValueRange> ranges;
    Diagram rest;
  };
  struct Group {
    Diagram child;
    std::vector<ValueRange> ranges;
    long double width = 0;
  };

  long double volume(Diagram set) { return set.is_constant() ? set.terminal() : of(set).volume; }

  std::vector<Group> groups(Diagram set, Field field) const {
    std::map<Diagram, std::vector<ValueRange>> by_child;
    for (const Branch& branch : space_.branches(set, field, kMaxBranches))
      if (branch.child != space_.nothing())
        by_child[branch.child].push_back(branch.range);
    std::vector<Group> out;
    const auto whole =
        static_cast<long double>(max_of(space_.fields()[static_cast<std::size_t>(field)])) + 1;
    for (auto& [child, ranges] : by_child) {
      long double width = 0;
      for (const ValueRange& range : ranges)
        width += static_cast<long double>(range.last - range.first) + 1;
      out.push_back({child, std::move(ranges), width / whole});
    }
    return out;
  }

  const Best& of(Diagram set) {
    if (const auto found = known_.find(set.id()); found != known_.end())
      return found->second;
    const Field field = *space_.root(set);
    const auto all = groups(set, field);
    std::vector<Diagram> candidates;
    for (const Group& group : all)
      candidates.push_back(group.child);
    const bool compare = all.size() <= kMaxCompared && !is_guard(field);
    if (compare) {
      // What is allowed behind every value, where no single child is just that.
      Diagram common = space_.everything();
      for (const Group& group : all)
        common = space_.intersect(common, group.child);
      if (common != space_.nothing())
        candidates.push_back(common);
    }
    Best best;
    for (const Diagram rest : candidates) {
      Best here{0, {}, rest};
      for (const Group& group : all) {
        if (group.child != rest && !(compare && space_.is_subset(rest, group.child)))
          continue;
        here.ranges.insert(here.ranges.end(), group.ranges.begin(), group.ranges.end());
        here.volume += group.width;
      }
      here.volume *= volume(rest);
      if (here.volume > best.volume)
        best = std::move(here);
    }
    best.ranges = joined(std::move(best.ranges));
    return known_.emplace(set.id(), std::move(best)).first->second;
  }

  Diagrams& space_;
  std::unordered_map<std::uint32_t, Best> known_;  // references stay valid
};

// Drops every field without which the box is still inside the set, last fields first.
Box widened(Diagrams& space, Box box, Diagram set) {
  for (std::size_t i = box.fields.size(); i-- > 0;) {
    if (is_guard(box.fields[i].first) && i + 1 < box.fields.size())
      continue;
    Box wider = box;
    wider.fields.erase(wider.fields.begin() + static_cast<std::ptrdiff_t>(i));
    if (space.is_subset(to_set(space, wider), set))
      box = std::move(wider);
  }
  return box;
}

}  // namespace

Diagram to_set(Diagrams& space, const Box& box) {
  Diagram set = space.everything();
  for (auto it = box.fields.rbegin(); it != box.fields.rend(); ++it)
    set = space.intersect(space.in(it->first, it->second), set);
  return set;
}

Boxes boxes(Diagrams& space, Diagram set, std::size_t limit) {
  Boxes out;
  Largest largest(space);
  Diagram left = set;
  while (left != space.nothing()) {
    if (out.boxes.size() == limit) {
      out.complete = false;
      break;
    }
    out.boxes.push_back(widened(space, largest.box(left), set));
    left = space.subtract(left, to_set(space, out.boxes.back()));
  }
  return out;
}

std::optional<SomePacket> sample(const Diagrams& space, Diagram set, const Choose& choose) {
  if (set == space.nothing())
    return {};
  SomePacket packet(space.fields().size());
  while (!set.is_constant()) {
    const Field field = *space.root(set);
    std::vector<ValueRange> ranges;
    const auto branches = space.branches(set, field, kMaxBranches);
    for (const Branch& branch : branches) {
      if (branch.child == space.nothing())
        continue;
      if (!ranges.empty() && ranges.back().last + 1 == branch.range.first)
        ranges.back().last = branch.range.last;
      else
        ranges.push_back(branch.range);
    }
    const Value value = choose(field, ranges);
    packet[static_cast<std::size_t>(field)] = value;
    set = std::find_if(branches.begin(), branches.end(), [&](const Branch& branch) {
            return branch.range.contains(value);
          })->child;
  }
  return packet;
}

Value smallest(Field, std::span<const ValueRange> ranges) {
  for (const ValueRange& range : ranges) {
    if ((range.first & 0xff) != 0)
      return range.first;
    if (range.first != range.last)
      return range.first + 1;
  }
  return ranges[0].first;
}

}  // namespace bulkhead::compiler::proof
