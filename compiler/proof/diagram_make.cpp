// Diagrams from values and ranges.
#include <algorithm>
#include <array>
#include <map>

#include "compiler/proof/diagram.h"
#include "compiler/proof/diagram_scratch.h"

namespace bulkhead::compiler::proof {

namespace {

// "No key yet", while a map is made; above all terminals of callers.
constexpr Terminal kHole = kMaxTerminal + 1;

bool by_range(const Branch& a, const Branch& b) {
  return a.range < b.range;
}

}  // namespace

Diagrams::Diagrams(Budget budget, std::span<const FieldInfo> fields)
    : fields_(fields.begin(), fields.end()), max_steps_(budget.steps), nodes_(budget) {
  for (std::size_t field = 0; field < fields_.size(); ++field) {
    const FieldInfo& info = fields_[field];
    first_.push_back(static_cast<std::uint16_t>(levels_.size()));
    const unsigned count = info.bits / info.digit;
    for (unsigned left = count; left-- > 0;) {
      const auto ones = static_cast<std::uint16_t>((1u << info.digit) - 1);
      levels_.push_back({static_cast<Field>(field), info.max != 0 ? info.max : ones, ones,
                         static_cast<std::uint8_t>(left * info.digit),
                         static_cast<std::uint16_t>(first_.back() + count)});
    }
  }
}

void Diagrams::count_step() {
  if (++steps_ > max_steps_)
    throw OutOfBudget("the packet sets need more time than a proof may use");
}

Diagrams::Index Diagrams::make(std::uint16_t level, std::span<Edge> edges) {
  return nodes_.make(level, edges);
}

// A field's digits from its first one on, most significant first. `entries` cover the values that
// these digits can take above `low`.
Diagrams::Index Diagrams::digits(std::uint16_t level, Value low, std::span<const Entry> entries) {
  if (entries.size() == 1)
    return entries[0].child;
  const Level& digit = levels_[level];
  const Value below = (Value{1} << digit.shift) - 1;  // all that later digits can say
  const Value end = low + (Value{digit.max} << digit.shift) + below;
  Scratch scratch(scratch_);
  std::size_t i = 0;
  for (Value at = low;;) {
    const auto number = [&](Value value) {
      return static_cast<std::uint16_t>((value >> digit.shift) & digit.ones);
    };
    Value last = at + below;
    if (entries[i].last >= last) {
      // As many digits as the entry covers whole.
      last = std::min(end, entries[i].last);
      if ((last & below) != below)
        last -= (last & below) + 1;
      scratch.push(entries[i].child, number(last));
    } else {
      std::size_t j = i;
      while (entries[j].last < last)
        ++j;
      const Index child =
          digits(static_cast<std::uint16_t>(level + 1), at, entries.subspan(i, j - i + 1));
      scratch.push(child, number(last));
      i = j;
    }
    if (last == end)
      break;
    if (entries[i].last == last)
      ++i;
    at = last + 1;
  }
  return make(level, scratch.edges());
}

std::vector<Diagrams::Entry> Diagrams::entries(Field field, std::span<const Branch> sorted,
                                               Index otherwise) const {
  const Value max = max_of(fields_[static_cast<std::size_t>(field)]);
  std::vector<Entry> out;
  out.reserve(sorted.size() * 2 + 1);
  const auto push = [&](Value last, Index child) {
    if (!out.empty() && out.back().child == child)
      out.back().last = last;
    else
      out.push_back({last, child});
  };
  Value next = 0;
  for (const Branch& branch : sorted) {
    if (branch.range.first > next)
      push(branch.range.first - 1, otherwise);
    push(branch.range.last, branch.child.index_);
    if (branch.range.last == max)
      return out;
    next = branch.range.last + 1;
  }
  push(max, otherwise);
  return out;
}

Diagram Diagrams::in(Field field, std::vector<ValueRange> ranges) {
  const Value max = max_of(fields_[static_cast<std::size_t>(field)]);
  std::erase_if(ranges, [&](const ValueRange& r) { return r.first > r.last || r.first > max; });
  std::sort(ranges.begin(), ranges.end());
  std::vector<Branch> merged;
  for (const ValueRange& range : ranges) {
    const Value last = std::min(range.last, max);
    if (merged.empty() || range.first > merged.back().range.last)
      merged.push_back({{range.first, last}, everything()});
    else
      merged.back().range.last = std::max(merged.back().range.last, last);
  }
  return Diagram(digits(first_level(field), 0, entries(field, merged, nothing().index_)));
}

Diagram Diagrams::branch(Field field, std::vector<Branch> branches, Diagram otherwise) {
  const Value max = max_of(fields_[static_cast<std::size_t>(field)]);
  std::erase_if(branches, [&](const Branch& b) {
    return b.range.first > b.range.last || b.range.first > max;
  });
  for (Branch& b : branches)
    b.range.last = std::min(b.range.last, max);
  bool below = is_below(otherwise.index_, field);
  for (const Branch& b : branches)
    below &= is_below(b.child.index_, field);

  // Children that ask this field or earlier ones come in afterwards, by number.
  std::vector<Diagram> table{otherwise};
  if (!below) {
    std::map<Diagram, Terminal> numbers{{otherwise, 0}};
    for (Branch& b : branches) {
      const auto [found, is_new] = numbers.emplace(b.child, static_cast<Terminal>(table.size()));
      if (is_new)
        table.push_back(b.child);
      b.child = constant(found->second);
    }
    otherwise = constant(0);
  }
  Diagram out;
  auto sorted = branches;
  std::stable_sort(sorted.begin(), sorted.end(), by_range);
  const bool disjoint =
      std::adjacent_find(sorted.begin(), sorted.end(), [](const Branch& a, const Branch& b) {
        return a.range.last >= b.range.first;
      }) == sorted.end();
  if (disjoint) {
    out = Diagram(digits(first_level(field), 0, entries(field, sorted, otherwise.index_)));
  } else {
    std::vector<Diagram> row;
    for (const Branch& b : branches)
      row.push_back(if_then_else(in(field, b.range), b.child, constant(kHole)));
    row.push_back(otherwise);
    out = fill(row, kHole);
  }
  return below ? out : replace(out, table);
}

}  // namespace bulkhead::compiler::proof
