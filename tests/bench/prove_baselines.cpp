// The same question asked of our diagrams, of BuDDy (binary decision diagrams, one variable a bit)
// and of Z3 (bit vectors). Prints a line a prover: "NAME RULES MEDIAN_MS ANSWERS_RIGHT".
//
//   bench_prove_baselines RULES REPETITIONS
//
// A prover that was not there when this was built is left out.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <string>

#include "compiler/proof/diagram.h"
#include "packet_set_question.h"
#ifdef BULKHEAD_BUDDY
#include <bdd.h>
#endif
#ifdef BULKHEAD_Z3
#include <z3++.h>
#endif

namespace bulkhead::bench {
namespace {

// ---- ours

namespace ours {

using namespace compiler::proof;

std::vector<ValueRange> ranges(const std::vector<Span>& spans) {
  std::vector<ValueRange> out;
  for (const Span& span : spans)
    out.push_back({span.first, span.last});
  return out;
}

Diagram cell(Diagrams& space, const QuestionCell& cell) {
  Diagram set = space.in(Field::DestinationPort, ranges(cell.ports));
  set = space.intersect(space.equal(Field::Protocol, cell.protocol), set);
  set = space.intersect(space.in(Field::Destination4, ranges(cell.destinations)), set);
  set = space.intersect(space.in(Field::Source4, ranges(cell.sources)), set);
  return space.intersect(space.equal(Field::InInterface, cell.leg), set);
}

Diagram all(Diagrams& space, const std::vector<QuestionCell>& cells) {
  std::vector<Diagram> sets;
  for (const QuestionCell& one : cells)
    sets.push_back(cell(space, one));
  return space.unite(sets);
}

bool equal(const Question& question) {
  Diagrams space;
  std::vector<Key> keys;
  for (const QuestionRule& rule : question.rules)
    keys.push_back({{{Field::InInterface, {rule.leg, rule.leg}},
                     {Field::Source4, {rule.source.first, rule.source.last}},
                     {Field::Destination4, {rule.destination.first, rule.destination.last}},
                     {Field::Protocol, {rule.protocol, rule.protocol}},
                     {Field::DestinationPort, {rule.ports.first, rule.ports.last}}},
                    rule.accept ? 1U : 0U});
  const Diagram rules = space.map(keys, 0);
  return rules == space.subtract(all(space, question.allowed), all(space, question.denied));
}

}  // namespace ours

// ---- BuDDy

#ifdef BULKHEAD_BUDDY
namespace buddy {

// Most significant bit first, which keeps ranges and prefixes small. The order of fields is the one
// of kOrders that is fastest (docs/adr/0004-packet-sets.md).
struct Bits {
  int first;
  int count;
};
Bits kLeg{0, 6}, kSource{0, 32}, kDestination{0, 32}, kProtocol{0, 8}, kPort{0, 16};
constexpr int kVariables = 94;

using Order = std::array<Bits*, 5>;
const Order kOrders[] = {{&kLeg, &kSource, &kDestination, &kProtocol, &kPort},  // as ours
                         {&kLeg, &kDestination, &kSource, &kProtocol, &kPort},
                         {&kLeg, &kProtocol, &kPort, &kSource, &kDestination},
                         {&kProtocol, &kPort, &kLeg, &kSource, &kDestination}};
Order order;

// Not timed: the node table and caches, large enough that nothing is ever collected.
void start(std::size_t which) {
  order = kOrders[which];
  int next = 0;
  for (Bits* field : order) {
    field->first = next;
    next += field->count;
  }
  bdd_init(2'000'000, 500'000);
  bdd_setvarnum(kVariables);
  bdd_setmaxincrease(1'000'000);
}
void stop() {
  bdd_done();
}

bdd at_least(Bits field, std::uint32_t value) {
  bdd out = bddtrue;
  for (int bit = 0; bit < field.count; ++bit) {  // from the least significant one up
    const int variable = field.first + field.count - 1 - bit;
    out = (value >> bit & 1) != 0 ? bdd_and(bdd_ithvar(variable), out)
                                  : bdd_or(bdd_ithvar(variable), out);
  }
  return out;
}
bdd at_most(Bits field, std::uint32_t value) {
  bdd out = bddtrue;
  for (int bit = 0; bit < field.count; ++bit) {
    const int variable = field.first + field.count - 1 - bit;
    out = (value >> bit & 1) != 0 ? bdd_or(bdd_nithvar(variable), out)
                                  : bdd_and(bdd_nithvar(variable), out);
  }
  return out;
}
// One value is a cube: each step puts a node on top, and nothing is walked.
bdd equal_to(Bits field, std::uint32_t value) {
  bdd out = bddtrue;
  for (int bit = 0; bit < field.count; ++bit) {
    const int variable = field.first + field.count - 1 - bit;
    out = bdd_and((value >> bit & 1) != 0 ? bdd_ithvar(variable) : bdd_nithvar(variable), out);
  }
  return out;
}
bdd in(Bits field, const Span& span) {
  if (span.first == span.last)
    return equal_to(field, span.first);
  return bdd_and(at_least(field, span.first), at_most(field, span.last));
}
bdd in(Bits field, const std::vector<Span>& spans) {
  bdd out = bddfalse;
  for (const Span& span : spans)
    out = bdd_or(out, in(field, span));
  return out;
}

// In pairs, like our own.
bdd unite(std::vector<bdd> row) {
  for (; row.size() > 1; row.resize((row.size() + 1) / 2))
    for (std::size_t i = 0; i < row.size(); i += 2)
      row[i / 2] = i + 1 < row.size() ? bdd_or(row[i], row[i + 1]) : row[i];
  return row.empty() ? bddfalse : row[0];
}

// From the last field up, so that each step only puts nodes on top.
template <class Member>
bdd conjunction(const Member& of) {
  bdd set = bddtrue;
  for (auto field = order.rbegin(); field != order.rend(); ++field)
    set = bdd_and(of(*field), set);
  return set;
}

bdd all(const std::vector<QuestionCell>& cells) {
  std::vector<bdd> sets;
  for (const QuestionCell& cell : cells)
    sets.push_back(conjunction([&](const Bits* field) {
      return field == &kLeg           ? equal_to(kLeg, cell.leg)
             : field == &kSource      ? in(kSource, cell.sources)
             : field == &kDestination ? in(kDestination, cell.destinations)
             : field == &kProtocol    ? equal_to(kProtocol, cell.protocol)
                                      : in(kPort, cell.ports);
    }));
  return unite(std::move(sets));
}

// What a row of rules decides, and what of that it accepts.
struct Part {
  bdd decided, accepted;
};

bool equal(const Question& question) {
  std::vector<Part> row;
  for (const QuestionRule& rule : question.rules) {
    const bdd set = conjunction([&](const Bits* field) {
      return field == &kLeg           ? equal_to(kLeg, rule.leg)
             : field == &kSource      ? in(kSource, rule.source)
             : field == &kDestination ? in(kDestination, rule.destination)
             : field == &kProtocol    ? equal_to(kProtocol, rule.protocol)
                                      : in(kPort, rule.ports);
    });
    row.push_back({set, rule.accept ? set : bddfalse});
  }
  for (; row.size() > 1; row.resize((row.size() + 1) / 2))
    for (std::size_t i = 0; i < row.size(); i += 2) {
      if (i + 1 == row.size()) {
        row[i / 2] = row[i];
        continue;
      }
      const Part a = row[i], b = row[i + 1];
      row[i / 2] = {bdd_or(a.decided, b.decided),
                    bdd_or(a.accepted, bdd_apply(b.accepted, a.decided, bddop_diff))};
    }
  return row[0].accepted == bdd_apply(all(question.allowed), all(question.denied), bddop_diff);
}

}  // namespace buddy
#endif

// ---- Z3

#ifdef BULKHEAD_Z3
namespace z3_bits {

bool equal(const Question& question) {
  z3::context context;
  const z3::expr leg = context.bv_const("leg", 6), source = context.bv_const("source", 32),
                 destination = context.bv_const("destination", 32),
                 protocol = context.bv_const("protocol", 8), port = context.bv_const("port", 16);
  const auto in = [&](const z3::expr& field, const Span& span) {
    const unsigned bits = field.get_sort().bv_size();
    const z3::expr first = context.bv_val(span.first, bits), last = context.bv_val(span.last, bits);
    return span.first == span.last ? field == first : z3::uge(field, first) && z3::ule(field, last);
  };
  const auto in_any = [&](const z3::expr& field, const std::vector<Span>& spans) {
    z3::expr_vector parts(context);
    for (const Span& span : spans)
      parts.push_back(in(field, span));
    return z3::mk_or(parts);
  };
  z3::expr rules = context.bool_val(false);
  for (auto rule = question.rules.rbegin(); rule != question.rules.rend(); ++rule)
    rules = z3::ite(in(leg, {rule->leg, rule->leg}) && in(source, rule->source) &&
                        in(destination, rule->destination) &&
                        in(protocol, {rule->protocol, rule->protocol}) && in(port, rule->ports),
                    context.bool_val(rule->accept), rules);
  const auto any_cell = [&](const std::vector<QuestionCell>& cells) {
    z3::expr_vector parts(context);
    for (const QuestionCell& cell : cells)
      parts.push_back(in(leg, {cell.leg, cell.leg}) && in_any(source, cell.sources) &&
                      in_any(destination, cell.destinations) &&
                      in(protocol, {cell.protocol, cell.protocol}) && in_any(port, cell.ports));
    return z3::mk_or(parts);
  };
  z3::solver solver(context, "QF_BV");
  solver.add(rules != (any_cell(question.allowed) && !any_cell(question.denied)));
  return solver.check() == z3::unsat;
}

}  // namespace z3_bits
#endif

// Where there are several ways to ask, the fastest counts. Starting and stopping are not timed.
struct Prover {
  const char* name;
  bool (*equal)(const Question&);
  int most_repetitions;
  std::size_t ways = 1;
  void (*start)(std::size_t way) = nullptr;
  void (*stop)() = nullptr;
};
const Prover kProvers[] = {
    {"diagrams", ours::equal, 1000},
#ifdef BULKHEAD_BUDDY
    {"buddy", buddy::equal, 1000, std::size(buddy::kOrders), buddy::start, buddy::stop},
#endif
#ifdef BULKHEAD_Z3
    {"z3", z3_bits::equal, 3},
#endif
};

// Milliseconds of the processor.
double timed(const Prover& prover, std::size_t way, const Question& question, bool& answer) {
  if (prover.start != nullptr)
    prover.start(way);
  const auto start = std::clock();
  answer = prover.equal(question);
  const double time = 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (prover.stop != nullptr)
    prover.stop();
  return time;
}

void run(std::size_t rules, int repetitions) {
  const Question equal = make_question(rules, false), wrong = make_question(rules, true);
  for (const Prover& prover : kProvers) {
    std::vector<double> medians;
    bool right = true, answer = false;
    for (std::size_t way = 0; way < prover.ways; ++way) {
      static_cast<void>(timed(prover, way, wrong, answer));
      right &= !answer;
      std::vector<double> times;
      for (int i = 0; i < std::min(repetitions, prover.most_repetitions); ++i) {
        times.push_back(timed(prover, way, equal, answer));
        right &= answer;
      }
      std::sort(times.begin(), times.end());
      medians.push_back(times[times.size() / 2]);
      if (prover.ways > 1)
        std::fprintf(stderr, "%s, order %zu: %.2f ms\n", prover.name, way, medians.back());
    }
    std::printf("%s %zu %.2f %s\n", prover.name, rules,
                *std::min_element(medians.begin(), medians.end()), right ? "yes" : "no");
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace bulkhead::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: bench_prove_baselines RULES REPETITIONS\n", stderr);
    return 2;
  }
  bulkhead::bench::run(std::strtoul(argv[1], nullptr, 10), std::atoi(argv[2]));
  return 0;
}
