#include "compiler/proof/ending.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace bulkhead::compiler::proof {

namespace {

bool before(const Change& change, Field field) {
  return change.field < field;
}

// `then`, told by what fields were before `first`.
Change from_start(const Changes& first, Change then) {
  if (!then.copy)
    return then;
  const auto source = std::lower_bound(first.begin(), first.end(), *then.copy, before);
  if (source == first.end() || source->field != *then.copy)
    return then;
  if (source->value)
    then.value = (*source->value & then.mask) ^ then.flip;
  then.flip ^= source->flip & then.mask;
  then.mask &= source->mask;
  then.copy = source->copy;
  return then;
}

bool is_none(const Change& change) {
  return change.copy == change.field && change.mask == ~Value{0} && change.flip == 0;
}

}  // namespace

Change change(Field field, std::optional<Value> value) {
  Change out;
  out.field = field;
  out.value = value;
  return out;
}

Changes after(const Changes& first, const Changes& then) {
  Changes out = first;
  for (const Change& change : then) {
    const auto at = std::lower_bound(out.begin(), out.end(), change.field, before);
    if (at != out.end() && at->field == change.field)
      *at = from_start(first, change);
    else
      out.insert(at, from_start(first, change));
  }
  std::erase_if(out, is_none);
  return out;
}

Outcome outcome_of(const Ending& ending) {
  std::set<Outcome> outcomes;
  for (const Way& way : ending.ways) {
    switch (way.end) {
      case End::Drop:
        outcomes.insert(Outcome::Drop);
        break;
      case End::Reject:
        outcomes.insert(Outcome::Reject);
        break;
      case End::Queue:
        outcomes.insert(Outcome::Either);
        break;
      case End::Unknown:
        return Outcome::Unknown;
      case End::Accept:
      case End::Continue:
      case End::Return:
      case End::Done:
      case End::Jump:
      case End::Goto:
        outcomes.insert(Outcome::Accept);
        break;
    }
  }
  if (outcomes.size() == 1)
    return *outcomes.begin();
  return ending.unknown.empty() ? Outcome::Either : Outcome::Unknown;
}

Endings::Endings() {
  for (const End end :
       {End::Drop, End::Accept, End::Continue, End::Return, End::Reject, End::Queue, End::Done})
    number({{{end, {}}}, {}});
}

Terminal Endings::number(Ending ending) {
  std::sort(ending.ways.begin(), ending.ways.end());
  ending.ways.erase(std::unique(ending.ways.begin(), ending.ways.end()), ending.ways.end());
  if (ending.ways.size() == 1 && ending.ways[0].end != End::Unknown)
    ending.unknown.clear();
  const auto [found, is_new] =
      numbers_.try_emplace(std::move(ending), static_cast<Terminal>(by_number_.size()));
  if (is_new) {
    by_number_.push_back(&found->first);
    for (const Way& way : found->first.ways)
      only_plain_ &= way.end != End::Continue || found->second == of(End::Continue);
  }
  return found->second;
}

Terminal Endings::either(Terminal a, Terminal b, const std::optional<RuleRef>& unknown) {
  if (a == b)
    return a;
  const Ending& x = at(a);
  const Ending& y = at(b);
  Ending both{x.ways, {}};
  both.ways.insert(both.ways.end(), y.ways.begin(), y.ways.end());
  std::set_union(x.unknown.begin(), x.unknown.end(), y.unknown.begin(), y.unknown.end(),
                 std::back_inserter(both.unknown));
  if (unknown) {
    const auto place = std::lower_bound(both.unknown.begin(), both.unknown.end(), *unknown);
    if (place == both.unknown.end() || *place != *unknown)
      both.unknown.insert(place, *unknown);
  }
  return number(std::move(both));
}

Terminal Endings::changed(const Changes& changes, Terminal number) {
  if (changes.empty())
    return number;
  Ending ending = at(number);
  for (Way& way : ending.ways)
    way.changes = after(changes, way.changes);
  return this->number(std::move(ending));
}

Terminal Endings::renamed(Terminal number, End from, End to) {
  Ending ending = at(number);
  for (Way& way : ending.ways)
    if (way.end == from)
      way.end = to;
  return this->number(std::move(ending));
}

Remembered Endings::renaming(Diagrams& space, End from, End to) {
  const auto [found, is_new] = renamings_.try_emplace({from, to});
  if (is_new)
    found->second = space.remember();
  return found->second;
}

}  // namespace bulkhead::compiler::proof
