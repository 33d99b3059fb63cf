#include "compiler/proof/set_lookup.h"

namespace bulkhead::compiler::proof {

namespace {

bool holds(std::span<const ValueRange> ranges, std::span<const Value> key) {
  for (std::size_t i = 0; i < key.size(); ++i)
    if (!ranges[i].contains(key[i]))
      return false;
  return true;
}

bool is_there(Journey& journey, const Set& set, const Element& element) {
  if (journey.surroundings.sets_as_listed || !(element.expires || set.dynamic))
    return true;
  return journey.ask("an element of set " + set.name + " may be gone", true);
}

}  // namespace

Found look_up(Journey& journey, const Set& set, std::span<const Value> key,
              const Element*& element) {
  if (!set.unmodelled.empty()) {
    journey.run.because.push_back("set " + set.name + ": " + set.unmodelled);
    return Found::Unknown;
  }
  element = nullptr;
  const Element* any = nullptr;
  for (std::size_t i = 0; i < set.elements.size(); ++i) {
    const Element& candidate = set.elements[i];
    if (candidate.any) {
      any = &candidate;
    } else if (holds(set.key(i), key) && is_there(journey, set, candidate)) {
      // Which of two overlapping elements was inserted first is not listed.
      if (element != nullptr && element->data != candidate.data) {
        journey.run.because.push_back("elements of set " + set.name + " overlap and differ");
        return Found::Unknown;
      }
      element = &candidate;
    }
  }
  if (element == nullptr && set.dynamic && !journey.surroundings.sets_as_listed &&
      journey.ask("set " + set.name + " is filled by rules", true))
    return set.is_map ? Found::Unknown : Found::Yes;
  if (element == nullptr && any != nullptr && is_there(journey, set, *any))
    element = any;
  if (element == nullptr)
    return Found::No;
  if (element->limited && !journey.ask("an element of set " + set.name + " has a limit", false))
    return Found::No;
  return Found::Yes;
}

}  // namespace bulkhead::compiler::proof
