// Sets and maps, for all packets.
#include <algorithm>
#include <map>
#include <set>

#include "compiler/proof/reading.h"
#include "compiler/proof/symbolic.h"

namespace bulkhead::compiler::proof {

namespace {

// The fields of a key, where each component is one field of its own.
std::optional<std::vector<Field>> fields_of(const Operands& key) {
  std::vector<Field> fields;
  for (const Operand& operand : key) {
    const auto field = field_of(operand);
    if (!field || std::find(fields.begin(), fields.end(), *field) != fields.end())
      return {};
    fields.push_back(*field);
  }
  return fields;
}

// Number of the result for each element; the key's place in the map decides among them.
std::optional<Diagram> numbers_of(Diagrams& space, const Operands& key, const Set& set,
                                  const std::vector<Terminal>& result, bool last_wins) {
  if (key.size() == 1) {
    std::vector<Branch> branches;
    branches.reserve(set.elements.size());
    for (std::size_t i = 0; i < set.elements.size(); ++i)
      if (!set.elements[i].any)
        branches.push_back({set.key(i)[0], space.constant(result[i])});
    return read(space, key[0], branches, space.nothing());
  }
  std::vector<Key> keys;
  if (const auto fields = fields_of(key)) {
    for (std::size_t i = 0; i < set.elements.size(); ++i) {
      if (set.elements[i].any)
        continue;
      Key made;
      made.gives = result[i];
      for (std::size_t part = 0; part < fields->size(); ++part)
        made.fields.emplace_back((*fields)[part], set.key(i)[part]);
      keys.push_back(std::move(made));
    }
    if (last_wins)
      std::reverse(keys.begin(), keys.end());
    return space.map(keys, 0);
  }
  std::vector<Diagram> row;
  for (std::size_t i = 0; i < set.elements.size(); ++i) {
    if (set.elements[i].any)
      continue;
    Diagram inside = space.everything();
    for (std::size_t part = 0; part < key.size(); ++part) {
      const auto one =
          read(space, key[part], {{set.key(i)[part], space.everything()}}, space.nothing());
      if (!one)
        return {};
      inside = space.intersect(inside, *one);
    }
    row.push_back(space.if_then_else(inside, space.constant(result[i]), space.nothing()));
  }
  if (last_wins)
    std::reverse(row.begin(), row.end());
  return space.fill(row, 0);
}

}  // namespace

Diagram Symbolic::readable(const Operand& operand) {
  const auto [found, is_new] = readable_.try_emplace({operand.selector, operand.place.base});
  if (is_new)
    found->second = proof::readable(space_, operand);
  return found->second;
}

Diagram Symbolic::readable(const Operands& key) {
  Diagram all = space_.everything();
  for (const Operand& operand : key)
    all = space_.intersect(all, readable(operand));
  return all;
}

Diagram Symbolic::look_up(const Operands& key, const Set& set, Diagram missing, Diagram unknown,
                          const std::function<Diagram(const Element&)>& result) {
  if (!set.unmodelled.empty())
    return unknown;
  // What rules fill may hold anything at the next packet.
  Diagram otherwise = set.dynamic ? either(missing, unknown, true) : missing;
  const auto with_doubt = [&](const Element& element) {
    Diagram found = result(element);
    if (element.limited)
      found = either(found, missing, false);
    return element.expires || set.dynamic ? either(found, otherwise, true) : found;
  };
  for (const Element& element : set.elements)
    if (element.any)
      otherwise = with_doubt(element);

  // The usual case, and the fast one: what the map leads to asks later fields than its key.
  const auto field = key.size() == 1 ? field_of(key[0]) : std::nullopt;
  if (field) {
    std::vector<Branch> branches;
    branches.reserve(set.elements.size());
    for (std::size_t i = 0; i < set.elements.size(); ++i)
      if (!set.elements[i].any)
        branches.push_back({set.key(i)[0], with_doubt(set.elements[i])});
    return space_.branch(*field, std::move(branches), otherwise);
  }

  std::vector<Diagram> table{otherwise};
  std::map<Diagram, Terminal> numbers{{otherwise, 0}};
  std::vector<Terminal> of_element;
  of_element.reserve(set.elements.size());
  for (const Element& element : set.elements) {
    const Diagram found = element.any ? otherwise : with_doubt(element);
    const auto [at, is_new] = numbers.emplace(found, static_cast<Terminal>(table.size()));
    if (is_new)
      table.push_back(found);
    of_element.push_back(at->second);
  }
  const auto which = numbers_of(space_, key, set, of_element, false);
  if (!which)
    return unknown;
  const Diagram found = space_.replace(*which, table);
  if (key.size() == 1)
    return found;
  // Of overlapping keys of a concatenation the one inserted first counts, which no listing tells.
  const auto other = numbers_of(space_, key, set, of_element, true);
  return *other == *which ? found : either(found, space_.replace(*other, table), true);
}

Diagram Symbolic::take(const Source& source, const std::function<Diagram(const Taken&)>& use) {
  if (const auto* values = std::get_if<std::vector<ValueRange>>(&source))
    return use({*values, nullptr});
  const Diagram ends = of(End::Continue);
  if (const auto* operand = std::get_if<Operand>(&source))
    return space_.if_then_else(readable(*operand), use({{}, operand}), ends);
  const auto& lookup = std::get<Lookup>(source);
  // Elements with the same data lead to the same diagram, made once.
  std::map<std::vector<ValueRange>, Diagram> known;
  const Diagram found =
      look_up(lookup.key, ruleset_.sets[lookup.set], ends, use({}), [&](const Element& element) {
        const auto* data = std::get_if<std::vector<ValueRange>>(&element.data);
        const std::vector<ValueRange> values = data != nullptr ? *data : std::vector<ValueRange>{};
        const auto at = known.find(values);
        return at != known.end() ? at->second
                                 : known.emplace(values, use({values, nullptr})).first->second;
      });
  return space_.if_then_else(readable(lookup.key), found, ends);
}

}  // namespace bulkhead::compiler::proof
