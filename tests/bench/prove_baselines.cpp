// The same question asked of our diagrams, of BuDDy (binary decision diagrams, one variable a bit)
// and of Z3 (bit vectors). Prints a line a prover: "NAME RULES MEDIAN_MS ANSWERS_RIGHT".
//
//   bench_prove_baselines RULES REPETITIONS
//
// A prover that was not there when this was built is left out.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
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

// Variables in the order of our fields, most significant bit first: the order that keeps ranges and
// prefixes small, and the best of those tried (docs/adr/0004-packet-sets.md).
struct Bits {
  int first;
  int count;
};
constexpr Bits kLeg{0, 6}, kSource{6, 32}, kDestination{38, 32}, kProtocol{70, 8}, kPort{78, 16};
constexpr int kVariables = 94;

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
bdd in(Bits field, const Span& span) {
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

bdd all(const std::vector<QuestionCell>& cells) {
  std::vector<bdd> sets;
  for (const QuestionCell& cell : cells) {
    // From the last field up, so that each step only puts nodes on top.
    bdd set = bdd_and(in(kProtocol, Span{cell.protocol, cell.protocol}), in(kPort, cell.ports));
    set = bdd_and(in(kDestination, cell.destinations), set);
    set = bdd_and(in(kSource, cell.sources), set);
    sets.push_back(bdd_and(in(kLeg, Span{cell.leg, cell.leg}), set));
  }
  return unite(std::move(sets));
}

// What a row of rules decides, and what of that it accepts.
struct Part {
  bdd decided, accepted;
};

bool equal(const Question& question) {
  bdd_init(1'000'000, 200'000);
  bdd_setvarnum(kVariables);
  bdd_setmaxincrease(1'000'000);
  bool result = false;
  {
    std::vector<Part> row;
    for (const QuestionRule& rule : question.rules) {
      bdd set = bdd_and(in(kProtocol, Span{rule.protocol, rule.protocol}), in(kPort, rule.ports));
      set = bdd_and(in(kDestination, rule.destination), set);
      set = bdd_and(in(kSource, rule.source), set);
      set = bdd_and(in(kLeg, Span{rule.leg, rule.leg}), set);
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
    result = row[0].accepted == bdd_apply(all(question.allowed), all(question.denied), bddop_diff);
  }
  bdd_done();
  return result;
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

struct Prover {
  const char* name;
  bool (*equal)(const Question&);
  int most_repetitions;
};
constexpr Prover kProvers[] = {
    {"diagrams", ours::equal, 1000},
#ifdef BULKHEAD_BUDDY
    {"buddy", buddy::equal, 1000},
#endif
#ifdef BULKHEAD_Z3
    {"z3", z3_bits::equal, 3},
#endif
};

void run(std::size_t rules, int repetitions) {
  const Question equal = make_question(rules, false), wrong = make_question(rules, true);
  for (const Prover& prover : kProvers) {
    std::vector<double> times;
    bool right = !prover.equal(wrong);
    for (int i = 0; i < std::min(repetitions, prover.most_repetitions); ++i) {
      const auto start = std::clock();
      right &= prover.equal(equal);
      times.push_back(1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    std::sort(times.begin(), times.end());
    std::printf("%s %zu %.2f %s\n", prover.name, rules, times[times.size() / 2],
                right ? "yes" : "no");
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
