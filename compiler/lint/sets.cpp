// Sets and maps: elements that hide each other, sets that hold nothing or that nobody asks.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/lint/checks.h"

namespace bulkhead::compiler::lint {

namespace {

using namespace proof;

constexpr std::size_t kMostCompared = 20'000'000;

bool overlap(std::span<const ValueRange> a, std::span<const ValueRange> b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].last < b[i].first || b[i].last < a[i].first)
      return false;
  return true;
}

bool covers(std::span<const ValueRange> outer, std::span<const ValueRange> inner) {
  for (std::size_t i = 0; i < outer.size(); ++i)
    if (inner[i].first < outer[i].first || outer[i].last < inner[i].last)
      return false;
  return true;
}

struct Overlaps {
  std::size_t different = 0;  // pairs that lead to different things
  std::size_t covered = 0;    // elements that lie in another one with the same data
  bool complete = true;
};

// The kernel refuses overlapping intervals of one component, and merges those of anonymous sets;
// only concatenations can have them. Sorted by their first component, so that an element meets only
// its neighbours.
Overlaps overlaps_of(const Set& set) {
  Overlaps out;
  std::vector<std::size_t> order(set.elements.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](std::size_t i) { return set.elements[i].any; });
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return set.key(a)[0].first < set.key(b)[0].first;
  });
  std::size_t compared = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const auto a = set.key(order[i]), b = set.key(order[j]);
      if (a[0].last < b[0].first)
        break;
      if (++compared > kMostCompared) {
        out.complete = false;
        return out;
      }
      if (!overlap(a, b))
        continue;
      if (set.elements[order[i]].data != set.elements[order[j]].data)
        ++out.different;
      else if (covers(a, b) || covers(b, a))
        ++out.covered;
    }
  return out;
}

struct Asks {
  std::set<Index>& out;
  void source(const Source& source) const {
    if (const auto* lookup = std::get_if<Lookup>(&source))
      out.insert(lookup->set);
  }
  void operator()(const Match& match) const { out.insert(match.set); }
  void operator()(const VerdictMap& map) const { out.insert(map.set); }
  void operator()(const Assign& assign) const { source(assign.value); }
  void operator()(const Nat& nat) const {
    if (nat.address)
      source(*nat.address);
    if (nat.port)
      source(*nat.port);
  }
  void operator()(const UpdateSet& update) const { out.insert(update.set); }
  // It may ask any set.
  void operator()(const Unmodelled& unmodelled) const {
    if (unmodelled.json.find('@') != std::string::npos)
      out.insert(kNone - 1);
  }
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

void sets(Context& context, Findings& out) {
  std::set<Index> asked;
  for (const Chain& chain : context.ruleset.chains)
    for (const Rule& rule : chain.rules)
      for (const Statement& statement : rule.statements)
        std::visit(Asks{asked}, statement);
  for (Index i = 0; i < context.ruleset.sets.size(); ++i) {
    const Set& set = context.ruleset.sets[i];
    const std::string name = set.name.empty() ? "an anonymous map" : set_name(context.ruleset, i);
    if (!set.name.empty() && !asked.contains(i) && !asked.contains(kNone - 1))
      add(out, "unused-set", Severity::Note, name, "no rule asks it", "take it out, or use it");
    if (!set.name.empty() && asked.contains(i) && set.elements.empty() && !set.dynamic &&
        !set.timeout && set.unmodelled.empty())
      add(out, "empty-set", Severity::Warning, name,
          "it holds nothing: what asks whether a packet is in it never matches, and what asks "
          "whether it is not always does",
          "fill it, or take out what asks it; an empty list is nobody, not everybody");
    if (set.width < 2)
      continue;
    const Overlaps found = overlaps_of(set);
    if (found.different > 0)
      add(out, "overlapping-elements", Severity::Error, name,
          fmt::format("{} pair{} of its elements hold the same packets and lead elsewhere; the one "
                      "inserted first counts, and no listing says which that is",
                      found.different, found.different == 1 ? "" : "s"),
          "make the elements disjoint");
    if (found.covered > 0)
      add(out, "covered-elements", Severity::Note, name,
          fmt::format("{} of its elements lie within another one that leads to the same",
                      found.covered),
          "take them out: deleting the wider one would not close what they say");
    if (!found.complete)
      add(out, "overlapping-elements", Severity::Note, name,
          "too many of its elements begin alike to compare each with each",
          "put the component first that differs most");
  }
}

}  // namespace bulkhead::compiler::lint
