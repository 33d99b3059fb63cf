// The algebra of packet sets against lists of all packets of a small universe.
#include "compiler/proof/diagram.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "compiler/proof/box.h"
#include "small_universe.h"

namespace bulkhead::compiler::proof::test {
namespace {

constexpr Terminal kTerminals = 3;

struct Both {
  Diagram diagram;
  List list;
};

std::size_t index(Field field) {
  return static_cast<std::size_t>(field);
}
Field any_field() {
  return static_cast<Field>(*rc::gen::inRange<int>(0, static_cast<int>(kSmall.size())));
}
Value any_value(Field field) {
  return static_cast<Value>(
      *rc::gen::inRange<int>(0, static_cast<int>(max_of(kSmall[index(field)])) + 1));
}
// Sometimes empty, sometimes beyond the field.
ValueRange any_range(Field field) {
  const Value first = any_value(field);
  return {first, first + static_cast<Value>(*rc::gen::inRange(0, 6)) - 1};
}
Terminal any_terminal() {
  return *rc::gen::inRange<Terminal>(0, kTerminals);
}
bool holds(const ValueRange& range, Value value) {
  return range.first <= value && value <= range.last;
}

// A function out of a few random maps, laid over each other.
Both any_function(Diagrams& space, Terminal terminals = kTerminals) {
  std::vector<Key> keys;
  const int count = *rc::gen::inRange(0, 7);
  for (int i = 0; i < count; ++i) {
    Key key;
    key.gives = *rc::gen::inRange<Terminal>(0, terminals);
    for (std::size_t field = 0; field < kSmall.size(); ++field)
      if (*rc::gen::inRange(0, 2) == 1)
        key.fields.emplace_back(static_cast<Field>(field), any_range(static_cast<Field>(field)));
    if (*rc::gen::inRange(0, 2) == 1)
      std::reverse(key.fields.begin(), key.fields.end());
    keys.push_back(key);
  }
  const Terminal otherwise = *rc::gen::inRange<Terminal>(0, terminals);
  return {space.map(keys, otherwise), list_of([&](const Packet& packet) {
            for (const Key& key : keys)
              if (std::all_of(key.fields.begin(), key.fields.end(), [&](const auto& part) {
                    return holds(part.second, packet[index(part.first)]);
                  }))
                return key.gives;
            return otherwise;
          })};
}
Both any_set(Diagrams& space) {
  return any_function(space, 2);
}

// The value is right, and the one node that stands for it was found.
void expect(Diagrams& space, Diagram got, const List& wanted) {
  RC_ASSERT(list_of(space, got) == wanted);
  RC_ASSERT(got == diagram_of(space, wanted));
}

List zip(const List& a, const List& b, const std::function<Terminal(Terminal, Terminal)>& op) {
  List out;
  for (std::size_t i = 0; i < a.size(); ++i)
    out.push_back(op(a[i], b[i]));
  return out;
}

RC_GTEST_PROP(Diagram, Maps, ()) {
  Diagrams space({}, kSmall);
  const Both f = any_function(space);
  expect(space, f.diagram, f.list);
}

RC_GTEST_PROP(Diagram, EqualFunctionsAreOneHandle, ()) {
  Diagrams space({}, kSmall);
  const Both f = any_function(space), g = any_function(space);
  RC_ASSERT((f.list == g.list) == (f.diagram == g.diagram));
}

RC_GTEST_PROP(Diagram, RangesOfAField, ()) {
  Diagrams space({}, kSmall);
  const Field field = any_field();
  std::vector<ValueRange> ranges;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i)
    ranges.push_back(any_range(field));
  expect(space, space.in(field, ranges), list_of([&](const Packet& packet) -> Terminal {
           return std::any_of(ranges.begin(), ranges.end(), [&](const ValueRange& range) {
             return holds(range, packet[index(field)]);
           });
         }));
}

// Children may ask any field, also those before the branch's own.
RC_GTEST_PROP(Diagram, Branches, ()) {
  Diagrams space({}, kSmall);
  const Field field = any_field();
  std::vector<Branch> branches;
  std::vector<List> lists;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    const Both child = any_function(space);
    branches.push_back({any_range(field), child.diagram});
    lists.push_back(child.list);
  }
  const Both otherwise = any_function(space);
  List wanted = otherwise.list;
  for (std::size_t p = 0; p < wanted.size(); ++p)
    for (std::size_t i = branches.size(); i-- > 0;)
      if (holds(branches[i].range, all_packets()[p][index(field)]))
        wanted[p] = lists[i][p];
  expect(space, space.branch(field, branches, otherwise.diagram), wanted);
}

RC_GTEST_PROP(Diagram, Sets, ()) {
  Diagrams space({}, kSmall);
  const Both a = any_set(space), b = any_set(space), c = any_set(space);
  expect(space, space.unite(a.diagram, b.diagram), zip(a.list, b.list, std::bit_or()));
  expect(space, space.intersect(a.diagram, b.diagram), zip(a.list, b.list, std::bit_and()));
  const List minus = zip(a.list, b.list, [](Terminal x, Terminal y) { return x & ~y; });
  expect(space, space.subtract(a.diagram, b.diagram), minus);
  expect(space, space.complement(a.diagram),
         zip(a.list, a.list, [](Terminal x, Terminal) { return 1 - x; }));
  const std::vector<Diagram> all{a.diagram, b.diagram, c.diagram};
  expect(space, space.unite(all), zip(zip(a.list, b.list, std::bit_or()), c.list, std::bit_or()));
  RC_ASSERT(space.is_subset(a.diagram, b.diagram) ==
            (std::find(minus.begin(), minus.end(), 1u) == minus.end()));
  long double count = 0;
  for (const Terminal inside : a.list)
    count += inside;
  RC_ASSERT(std::abs(space.fraction(a.diagram) - count / all_packets().size()) < 1e-12L);
}

RC_GTEST_PROP(Diagram, ExistsForgetsAField, ()) {
  Diagrams space({}, kSmall);
  const Both a = any_set(space);
  const Field field = any_field();
  std::set<Packet> inside;
  for (std::size_t p = 0; p < a.list.size(); ++p) {
    Packet packet = all_packets()[p];
    packet[index(field)] = 0;
    if (a.list[p] == 1)
      inside.insert(packet);
  }
  expect(space, space.exists(a.diagram, field), list_of([&](Packet packet) -> Terminal {
           packet[index(field)] = 0;
           return inside.count(packet) != 0;
         }));
}

RC_GTEST_PROP(Diagram, FixDecidesAField, ()) {
  Diagrams space({}, kSmall);
  const Both f = any_function(space);
  const Field field = any_field();
  const Value value = any_value(field);
  expect(space, space.fix(f.diagram, field, value), list_of([&](Packet packet) {
           packet[index(field)] = value;
           return space.at(f.diagram, packet);
         }));
}

RC_GTEST_PROP(Diagram, FoldPutsAFieldTogether, ()) {
  Diagrams space({}, kSmall);
  const Both f = any_function(space);
  const Field field = any_field();
  const auto larger = [](Terminal x, Terminal y) { return std::max(x, y); };
  expect(space, space.fold(f.diagram, field, larger), list_of([&](Packet packet) {
           Terminal most = 0;
           for (Value value = 0; value <= max_of(kSmall[index(field)]); ++value) {
             packet[index(field)] = value;
             most = std::max(most, space.at(f.diagram, packet));
           }
           return most;
         }));
}

RC_GTEST_PROP(Diagram, MaskedReadsSomeBits, ()) {
  Diagrams space({}, kSmall);
  const Both f = any_function(space);
  const Field field = *rc::gen::element(kB, kC);  // of fields that use all their bits
  const Value mask = *rc::gen::inRange(0u, 16u);
  const Value flip = *rc::gen::inRange(0u, 16u) & max_of(kSmall[index(field)]);
  expect(space, space.masked(f.diagram, field, mask, flip), list_of([&](Packet packet) {
           packet[index(field)] = (packet[index(field)] & mask) ^ flip;
           return space.at(f.diagram, packet);
         }));
}

// Both ways: from an earlier and from a later field.
RC_GTEST_PROP(Diagram, CopiedReadsAnotherField, ()) {
  constexpr std::array<FieldInfo, 4> alike{{{"a", 3, 3}, {"b", 3, 1}, {"c", 3, 3, 5}, {"d", 3, 1}}};
  Diagrams space({}, alike);
  std::vector<Key> keys;
  for (int i = *rc::gen::inRange(0, 7); i > 0; --i) {
    Key key;
    key.gives = any_terminal();
    for (std::uint8_t field = 0; field < 4; ++field)
      if (*rc::gen::inRange(0, 2) == 1) {
        const Value first = *rc::gen::inRange(0u, 6u);
        key.fields.push_back({Field{field}, {first, first + *rc::gen::inRange(0u, 4u)}});
      }
    keys.push_back(key);
  }
  const Diagram f = space.map(keys, any_terminal());
  for (const auto& [to, from] : {std::pair(0, 1), std::pair(1, 0), std::pair(3, 1)}) {
    const Diagram g = space.copied(f, static_cast<Field>(to), static_cast<Field>(from));
    std::array<Value, 4> p{};
    for (p[0] = 0; p[0] < 8; ++p[0])
      for (p[1] = 0; p[1] < 8; ++p[1])
        for (p[2] = 0; p[2] < 6; ++p[2])
          for (p[3] = 0; p[3] < 8; ++p[3]) {
            auto copy = p;
            copy[static_cast<std::size_t>(to)] = p[static_cast<std::size_t>(from)];
            if (space.at(g, p) != space.at(f, copy))
              RC_FAIL("not the same");
          }
  }
}

RC_GTEST_PROP(Diagram, Functions, ()) {
  Diagrams space({}, kSmall);
  const Both f = any_function(space), g = any_function(space), h = any_function(space);
  const Both set = any_set(space);
  List chosen = f.list;
  for (std::size_t p = 0; p < chosen.size(); ++p)
    chosen[p] = set.list[p] == 1 ? f.list[p] : g.list[p];
  expect(space, space.if_then_else(set.diagram, f.diagram, g.diagram), chosen);

  const Terminal hole = any_terminal();
  const auto fill = [&](Terminal x, Terminal y) { return x == hole ? y : x; };
  expect(space, space.fill(f.diagram, hole, g.diagram), zip(f.list, g.list, fill));
  const std::vector<Diagram> row{f.diagram, g.diagram, h.diagram};
  expect(space, space.fill(row, hole), zip(f.list, zip(g.list, h.list, fill), fill));

  const auto op = [](Terminal x, Terminal y) { return (x * 2 + y) % kTerminals; };
  expect(space, space.apply(f.diagram, g.diagram, op), zip(f.list, g.list, op));
  const auto to = [](Terminal x) { return x / 2; };
  expect(space, space.relabel(f.diagram, to),
         zip(f.list, f.list, [&](Terminal x, Terminal) { return to(x); }));
  expect(space, space.where(f.diagram, hole),
         zip(f.list, f.list, [&](Terminal x, Terminal) -> Terminal { return x == hole; }));
  expect(space, space.where(f.diagram, [&](Terminal x) { return x != hole; }),
         zip(f.list, f.list, [&](Terminal x, Terminal) -> Terminal { return x != hole; }));
}

RC_GTEST_PROP(Diagram, ReplaceTakesAnyFunction, ()) {
  Diagrams space({}, kSmall);
  const Both f = any_function(space);
  std::vector<Diagram> table;
  std::vector<List> lists;
  for (Terminal t = 0; t < kTerminals; ++t) {
    const Both g = any_function(space);
    table.push_back(g.diagram);
    lists.push_back(g.list);
  }
  List wanted;
  for (std::size_t p = 0; p < f.list.size(); ++p)
    wanted.push_back(lists[f.list[p]][p]);
  expect(space, space.replace(f.diagram, table), wanted);
}

RC_GTEST_PROP(Diagram, TellsWhatItAsks, ()) {
  Diagrams space({}, kSmall);
  const Both f = any_function(space);
  RC_ASSERT(space.terminals(f.diagram) == [&] {
    const std::set<Terminal> set(f.list.begin(), f.list.end());
    return std::vector<Terminal>(set.begin(), set.end());
  }());
  std::vector<Field> asked;
  for (std::size_t i = 0; i < kSmall.size(); ++i) {
    const Field field = static_cast<Field>(i);
    if (space.fix(f.diagram, field, 0) != f.diagram)
      asked.push_back(field);
  }
  RC_ASSERT(space.asked(f.diagram) == asked);
  if (asked.empty())
    return;
  RC_ASSERT(space.root(f.diagram) == asked[0]);
  const auto branches = space.branches(f.diagram, asked[0]);
  Value next = 0;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    RC_ASSERT(branches[i].range.first == next);
    if (i > 0)  // RC_ASSERT takes both sides of a `||`
      RC_ASSERT(branches[i].child != branches[i - 1].child);
    for (Value value = next; value <= branches[i].range.last; ++value)
      RC_ASSERT(space.fix(f.diagram, asked[0], value) == branches[i].child);
    next = branches[i].range.last + 1;
  }
  RC_ASSERT(next == max_of(kSmall[index(asked[0])]) + 1);
}

// The answers that an operation gave stay right when more work made it forget them.
TEST(Diagram, OutOfBudgetLeavesEverythingAsItWas) {
  Diagrams space({.edges = 200, .steps = 1'000'000});
  const Diagram before = space.in(Field::Source4, {10, 20});
  bool stopped = false;
  try {
    std::vector<Diagram> sets;
    for (Value i = 0; i < 1000; ++i)
      sets.push_back(space.intersect(space.equal(Field::Source4, i * 7919),
                                     space.equal(Field::Destination4, i * 104729)));
    space.unite(sets);
  } catch (const OutOfBudget&) {
    stopped = true;
  }
  EXPECT_TRUE(stopped);
  EXPECT_EQ(space.in(Field::Source4, {10, 20}), before);
  EXPECT_EQ(space.unite(before, before), before);
}

TEST(Diagram, StepsEnd) {
  Diagrams space({.edges = 1'000'000, .steps = 10});
  std::vector<Diagram> sets;
  for (Value i = 0; i < 100; ++i)
    sets.push_back(space.equal(Field::Source4, i * 7919));
  EXPECT_THROW(space.unite(sets), OutOfBudget);
}

TEST(Diagram, AMaskOnLowBitsIsNotListedWhole) {
  Diagrams space;
  const Diagram odd = space.masked(space.equal(Field::Source6, 1), Field::Source6, 1, 0);
  const auto some = space.branches(odd, Field::Source6, 10);
  ASSERT_EQ(some.size(), 10u);
  EXPECT_TRUE(some.back().range.last == 9);
  EXPECT_EQ(space.fraction(odd), 0.5L);
}

TEST(Diagram, WholeAddressesAreExact) {
  Diagrams space;
  const Value top = ~Value{0};
  const Diagram last = space.equal(Field::Source6, top);
  const Diagram rest = space.in(Field::Source6, {0, top - 1});
  EXPECT_EQ(space.complement(last), rest);
  EXPECT_EQ(space.unite(last, rest), space.everything());
  EXPECT_EQ(space.in(Field::Source6, {0, top}), space.everything());
}

// Packets of the list that lie in the box, by the box's own words.
bool holds(const Box& box, const Packet& packet) {
  return std::all_of(box.fields.begin(), box.fields.end(), [&](const auto& part) {
    return std::any_of(part.second.begin(), part.second.end(), [&](const ValueRange& range) {
      return holds(range, packet[index(part.first)]);
    });
  });
}

RC_GTEST_PROP(Boxes, AreTheSet, ()) {
  Diagrams space({}, kSmall);
  const Both a = any_set(space);
  const Boxes all = boxes(space, a.diagram, 10'000);
  RC_ASSERT(all.complete);
  RC_ASSERT(a.list == list_of([&](const Packet& packet) -> Terminal {
              return std::any_of(all.boxes.begin(), all.boxes.end(),
                                 [&](const Box& box) { return holds(box, packet); });
            }));
  for (const Box& box : all.boxes)
    expect(space, to_set(space, box),
           list_of([&](const Packet& packet) -> Terminal { return holds(box, packet); }));
  const Boxes some = boxes(space, a.diagram, 1);
  RC_ASSERT(some.complete == (all.boxes.size() <= 1));
}

TEST(Boxes, ABoxIsOneBox) {
  Diagrams space({}, kSmall);
  const Box box{{{kA, {{1, 2}, {4, 4}}}, {kB, {{3, 9}}}, {kD, {{1, 1}}}}};
  const Boxes all = boxes(space, to_set(space, box), 10);
  ASSERT_EQ(all.boxes.size(), 1u);
  EXPECT_EQ(all.boxes[0].fields, box.fields);
}

// "Everybody may d = 1" and "a = 3 may anything" are two boxes that overlap, whatever the order.
TEST(Boxes, OverlapWhereThatReadsBetter) {
  Diagrams space({}, kSmall);
  const Diagram everybody = space.equal(kD, 1), one = space.equal(kA, 3);
  const Boxes all = boxes(space, space.unite(everybody, one), 10);
  ASSERT_EQ(all.boxes.size(), 2u);
  EXPECT_EQ(to_set(space, all.boxes[0]), everybody);
  EXPECT_EQ(to_set(space, all.boxes[1]), one);
}

RC_GTEST_PROP(Sample, IsInside, ()) {
  Diagrams space({}, kSmall);
  const Both a = any_set(space);
  const auto packet = sample(space, a.diagram, smallest);
  RC_ASSERT(packet.has_value() == (a.diagram != space.nothing()));
  if (!packet)
    return;
  Packet values{};
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (*packet)[i].value_or(any_value(static_cast<Field>(i)));
  RC_ASSERT(space.at(a.diagram, values) == 1u);
  RC_ASSERT(sample(space, a.diagram, smallest) == packet);
}

TEST(Sample, AvoidsZeroes) {
  Diagrams space;
  const Diagram set = space.intersect(space.in(Field::Source4, {0x0a000000, 0x0a0000ff}),
                                      space.in(Field::DestinationPort, {0, 1023}));
  const auto packet = sample(space, set, smallest);
  ASSERT_TRUE(packet);
  EXPECT_TRUE((*packet)[static_cast<std::size_t>(Field::Source4)] == Value{0x0a000001});
  EXPECT_TRUE((*packet)[static_cast<std::size_t>(Field::DestinationPort)] == Value{1});
  EXPECT_FALSE((*packet)[static_cast<std::size_t>(Field::Family)]);
}

// Longer than one walk takes, on real fields: the first key that holds a packet counts, one key at
// a time gives the same, and so does a row of them.
RC_GTEST_PROP(Diagram, LongMapsAndRows, ()) {
  constexpr std::array fields{Field::InInterface, Field::Source4, Field::DestinationPort};
  std::mt19937 random(*rc::gen::arbitrary<std::uint32_t>());  // quicker than a generator each
  const auto upto = [&](std::uint32_t last) { return static_cast<Value>(random() % (last + 1)); };
  Diagrams space;
  std::vector<Key> keys;
  for (int i = 0; i < 150; ++i) {
    Key key;
    key.gives = static_cast<Terminal>(upto(kTerminals - 1));
    for (const Field field : fields)
      if (upto(2) != 0) {
        // Neighbours around a digit's edge, now and then all the way up.
        const Value around = Value{0x0a0000f8} & max_of(info(field));
        const Value first = around + upto(15);
        const Value last = upto(7) == 0 ? max_of(info(field)) : first + upto(7);
        key.fields.emplace_back(field, ValueRange{first, last});
      }
    keys.push_back(key);
  }
  const Terminal otherwise = any_terminal();
  constexpr Terminal kNone = 7;
  const Diagram map = space.map(keys, otherwise);
  std::vector<Diagram> row;
  for (const Key& key : keys)
    row.push_back(space.map(std::span(&key, 1), kNone));
  row.push_back(space.constant(otherwise));
  RC_ASSERT(space.fill(row, kNone) == map);
  const auto pairs = [&](const auto& self, std::span<const Diagram> part) -> Diagram {
    const std::size_t half = part.size() / 2;
    return half == 0
               ? part[0]
               : space.fill(self(self, part.first(half)), kNone, self(self, part.subspan(half)));
  };
  RC_ASSERT(pairs(pairs, row) == map);

  std::vector<Value> packet(kFieldCount);
  for (int i = 0; i < 50; ++i) {
    for (const Field field : fields)
      packet[index(field)] = (Value{0x0a0000f8} & max_of(info(field))) + upto(23);
    const auto first = std::find_if(keys.begin(), keys.end(), [&](const Key& key) {
      return std::all_of(key.fields.begin(), key.fields.end(), [&](const auto& part) {
        return holds(part.second, packet[index(part.first)]);
      });
    });
    RC_ASSERT(space.at(map, packet) == (first == keys.end() ? otherwise : first->gives));
  }
}

}  // namespace
}  // namespace bulkhead::compiler::proof::test
