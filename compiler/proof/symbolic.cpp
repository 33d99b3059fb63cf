// Chains and rules. The hooks are in symbolic_hook.cpp, lookups in symbolic_lookup.cpp.
#include "compiler/proof/symbolic.h"

#include <algorithm>

#include "compiler/proof/reading.h"

namespace bulkhead::compiler::proof {

Symbolic::Symbolic(Diagrams& space, Endings& endings, const Ruleset& ruleset,
                   Attribution attribution)
    : space_(space),
      endings_(endings),
      ruleset_(ruleset),
      attribution_(attribution),
      chains_(ruleset.chains.size()) {}

Diagram Symbolic::chain(Index index) {
  if (chains_[index])
    return *chains_[index];
  std::vector<Diagram> row;
  const auto& rules = ruleset_.chains[index].rules;
  for (Index i = 0; i < rules.size(); ++i)
    row.push_back(rule({index, i}, rules[i]));
  if (endings_.only_plain()) {
    chains_[index] = space_.fill(row, Endings::of(End::Continue));
    return *chains_[index];
  }
  // In pairs: each rule is walked log(rules) times.
  for (; row.size() > 1; row.resize((row.size() + 1) / 2))
    for (std::size_t i = 0; i < row.size(); i += 2)
      row[i / 2] = i + 1 < row.size() ? then(row[i], row[i + 1]) : row[i];
  chains_[index] = row.empty() ? of(End::Continue) : row[0];
  return *chains_[index];
}

Diagram Symbolic::alone(RuleRef ref) {
  struct Alone {
    bool& flag;
    explicit Alone(bool& its_flag) : flag(its_flag) { flag = true; }
    ~Alone() { flag = false; }
  } const alone(alone_);
  return rule(ref, ruleset_.chains[ref.chain].rules[ref.rule], End::Done);
}

Diagram Symbolic::rule(RuleRef ref) {
  return rule(ref, ruleset_.chains[ref.chain].rules[ref.rule]);
}

std::vector<Diagram> Symbolic::from_each(Index index) {
  const auto& rules = ruleset_.chains[index].rules;
  std::vector<Diagram> out(rules.size() + 1, of(End::Continue));
  for (std::size_t i = rules.size(); i-- > 0;)
    out[i] = then(rule({index, static_cast<Index>(i)}, rules[i]), out[i + 1]);
  return out;
}

// From the last statement to the first: what a statement lets through goes on with `rest`.
Diagram Symbolic::rule(RuleRef ref, const Rule& rule, End done) {
  Diagram rest = of(done);
  for (auto it = rule.statements.rbegin(); it != rule.statements.rend(); ++it) {
    at_ = ref;  // chains that are jumped to have rules of their own
    rest = std::visit([&](const auto& what) { return statement(what, rest); }, *it);
  }
  return rest;
}

Diagram Symbolic::statement(const Match& match, Diagram rest) {
  const Diagram ends = of(End::Continue);
  const Diagram hit = match.negated ? ends : rest;
  const Diagram miss = match.negated ? rest : ends;
  Diagram found;
  if (match.set != kNone) {
    found = look_up(match.key, ruleset_.sets[match.set], miss, either(hit, miss, true),
                    [&](const Element&) { return hit; });
  } else {
    std::vector<Branch> branches;
    for (const ValueRange& range : match.ranges)
      branches.push_back({range, space_.everything()});
    const auto inside = read(space_, match.key[0], branches, space_.nothing());
    found = inside ? space_.if_then_else(*inside, hit, miss) : either(rest, ends, true);
  }
  return space_.if_then_else(readable(match.key), found, ends);
}

Diagram Symbolic::statement(const VerdictMap& map, Diagram rest) {
  const Diagram found = look_up(map.key, ruleset_.sets[map.set], of(End::Continue), not_known(),
                                [&](const Element& element) {
                                  const auto* verdict = std::get_if<Verdict>(&element.data);
                                  return verdict != nullptr ? follow(*verdict, rest) : not_known();
                                });
  return space_.if_then_else(readable(map.key), found, of(End::Continue));
}

Diagram Symbolic::follow(const Verdict& verdict, Diagram rest) {
  switch (verdict.kind) {
    case VerdictKind::Accept:
      return decided(End::Accept);
    case VerdictKind::Drop:
      return decided(End::Drop);
    case VerdictKind::Reject:
      return decided(End::Reject);
    case VerdictKind::Queue:
      return decided(End::Queue);
    case VerdictKind::Return:
      return of(End::Return);
    case VerdictKind::Continue:
      return rest;
    case VerdictKind::Jump:
    case VerdictKind::Goto:
      break;
  }
  const RuleRef here = at_;
  if (alone_)
    return space_.constant(endings_.number(
        {{{verdict.kind == VerdictKind::Jump ? End::Jump : End::Goto, {}, {}, verdict.chain}},
         {}}));
  const Diagram there = chain(verdict.chain);
  at_ = here;
  // Back from a jump the next rule follows; after a goto nothing is left of this chain.
  return verdict.kind == VerdictKind::Jump ? renamed(there, End::Return, End::Continue)
                                           : renamed(there, End::Continue, End::Return);
}

Diagram Symbolic::statement(const Assign& assign, Diagram rest) {
  Operand target;
  target.selector = assign.target;
  const auto field = field_of(target);
  if (!field)
    return not_known();
  const Diagram set = take(assign.value, [&](const Taken& taken) {
    return changed({change_of(*field, taken, 0)}, rest);
  });
  // Without an entry there is nothing to mark; the rule goes on.
  return info(assign.target).base == Base::Conntrack
             ? space_.if_then_else(readable(target), set,
                                   take(assign.value, [&](const Taken&) { return rest; }))
             : set;
}

Diagram Symbolic::statement(const Notrack&, Diagram rest) {
  Change untracked;
  untracked.field = Field::CtState;
  untracked.value = static_cast<Value>(CtState::Untracked);
  untracked.by = at_;
  // A packet that has its entry keeps it.
  return space_.if_then_else(space_.equal(Field::CtState, static_cast<Value>(CtState::Invalid)),
                             changed({untracked}, rest), rest);
}

Diagram Symbolic::statement(const UpdateSet& update, Diagram rest) {
  const Diagram ends = of(End::Continue);
  return space_.if_then_else(readable(update.key),
                             update.limited ? either(rest, ends, false) : rest, ends);
}

Diagram Symbolic::statement(const Unmodelled& unmodelled, Diagram rest) {
  return unmodelled.kind == Unmodelled::Kind::Effect ? not_known()
                                                     : either(rest, of(End::Continue), true);
}

Diagram Symbolic::statement(const Nat& nat, Diagram rest) {
  const Taken none;
  const auto with_port = [&](const Taken& address) {
    return nat.port
               ? take(*nat.port, [&](const Taken& port) { return translate(nat, address, port); })
               : translate(nat, address, none);
  };
  const Diagram done = nat.address ? take(*nat.address, with_port) : with_port(none);
  if (!nat.family)
    return done;
  return space_.if_then_else(
      space_.equal(Field::Family, *nat.family == bulkhead::Family::V4 ? kIpv4 : kIpv6), done, rest);
}

// The connection's first packet, with the address and port that the statement says. What the
// kernel chooses is not known: one of a range, the port that a source translation had to take.
Diagram Symbolic::translate(const Nat& nat, const Taken& address, const Taken& port) {
  const bool is_source = nat.kind == NatKind::Snat || nat.kind == NatKind::Masquerade;
  const TableFamily table = ruleset_.table_of(ruleset_.chains[at_.chain]).family;
  const bool v4 = nat.family ? *nat.family == bulkhead::Family::V4 : table != TableFamily::Ip6;
  const bool v6 = nat.family ? *nat.family == bulkhead::Family::V6 : table != TableFamily::Ip;
  Changes changes;
  const auto add = [&](Field field, const Taken& taken, std::size_t component) {
    changes = after(changes, {change_of(field, taken, component)});
  };
  const Taken chosen;
  // A translation of ports alone keeps the address.
  const bool moves =
      nat.address || nat.kind == NatKind::Masquerade || nat.kind == NatKind::Redirect;
  const Taken& to = nat.netmap ? chosen : address;
  if (moves && v4)
    add(is_source ? Field::Source4 : Field::Destination4, to, 0);
  if (moves && v6)
    add(is_source ? Field::Source6 : Field::Destination6, to, 0);
  if (address.values.size() > 1)
    add(is_source ? Field::SourcePort : Field::DestinationPort, address, 1);
  else if (nat.port)
    add(is_source ? Field::SourcePort : Field::DestinationPort, port, 0);
  else if (is_source)
    add(Field::SourcePort, chosen, 0);
  for (const Field field :
       {Field::CtStatus, Field::CtReplySource4, Field::CtReplySource6, Field::CtReplyDestination4,
        Field::CtReplyDestination6, Field::CtReplySourcePort, Field::CtReplyDestinationPort})
    add(field, chosen, 0);
  return changed(changes, decided(End::Accept));
}

Change Symbolic::change_of(Field field, const Taken& taken, std::size_t component) const {
  Change change;
  change.field = field;
  change.by = at_;
  if (component < taken.values.size()) {
    const ValueRange& range = taken.values[component];
    if (range.first == range.last && range.first <= max_of(field))
      change.value = range.first;
  } else if (taken.operand != nullptr) {
    Operand whole = *taken.operand;
    whole.mask = ~Value{0};
    whole.flip = 0;
    const auto source = field_of(whole);
    if (source && info(*source).bits == info(field).bits &&
        info(*source).digit == info(field).digit) {
      change.copy = source;
      change.mask = taken.operand->mask;
      change.flip = taken.operand->flip;
    }
  }
  return change;
}

Diagram Symbolic::not_known() const {
  return space_.constant(endings_.number({{{End::Unknown, {}}}, {at_}}));
}

Diagram Symbolic::either(Diagram a, Diagram b, bool unknown) {
  const auto cause = unknown ? std::optional(at_) : std::nullopt;
  return space_.apply(a, b, [&](Terminal x, Terminal y) { return endings_.either(x, y, cause); });
}

Diagram Symbolic::renamed(Diagram f, End from, End to) {
  return space_.relabel(
      f, [&](Terminal t) { return endings_.renamed(t, from, to); },
      endings_.renaming(space_, from, to));
}

// `then`, for packets in which `changes` have been made.
Diagram Symbolic::changed(const Changes& changes, Diagram then) {
  const Diagram read = behind(changes, then, [this](const RuleRef& by, Terminal a, Terminal b) {
    return endings_.either(a, b, by);
  });
  return space_.relabel(read, [&](Terminal t) { return endings_.changed(changes, t); });
}

Diagram Symbolic::may_be_in(Diagram set, const Changes& changes) {
  return behind(changes, set,
                [](const RuleRef&, Terminal a, Terminal b) { return std::max(a, b); });
}

// f as it reads the packets once they are changed; `join` where it is not known to what.
Diagram Symbolic::behind(const Changes& changes, Diagram f,
                         const std::function<Terminal(const RuleRef&, Terminal, Terminal)>& join) {
  Diagram read = f;
  Changes left = changes;
  // A field that another one is copied from is changed itself first, so that the copy is of what it
  // was. Two that are copied from each other: not known.
  while (!left.empty()) {
    auto next = std::find_if(left.begin(), left.end(), [&](const Change& change) {
      return !change.copy || change.copy == change.field ||
             std::none_of(left.begin(), left.end(),
                          [&](const Change& other) { return other.field == *change.copy; });
    });
    if (next == left.end()) {
      next = left.begin();
      next->copy.reset();
    }
    if (next->value) {
      read = space_.fix(read, next->field, *next->value);
    } else if (next->copy) {
      const Value ones = max_of(next->field);
      if ((next->mask & ones) != ones || (next->flip & ones) != 0)
        read = space_.masked(read, next->field, next->mask & ones, next->flip & ones);
      if (*next->copy != next->field)
        read = space_.copied(read, next->field, *next->copy);
    } else {
      const RuleRef by = next->by;
      read = space_.fold(read, next->field, [&](Terminal a, Terminal b) { return join(by, a, b); });
    }
    left.erase(next);
  }
  return read;
}

Diagram Symbolic::decided(End end) {
  return attribution_ == Attribution::None
             ? of(end)
             : space_.constant(endings_.number({{{end, {}, at_}}, {}}));
}

// Who is named for a packet that several base chains accept: a filter of the hooks of its three
// ways before translations and marks, and a rule before a policy.
int Symbolic::weight(const RuleRef& decider) const {
  const auto& base = ruleset_.chains[decider.chain].base;
  const bool is_aside =
      base &&
      (base->type != ChainType::Filter ||
       (base->hook != Hook::Input && base->hook != Hook::Forward && base->hook != Hook::Output));
  return (is_aside ? 0 : 2) + (decider.rule == kNone ? 0 : 1);
}

// `then`, for packets that `by` accepted in a base chain before.
Diagram Symbolic::decided_before(const std::optional<RuleRef>& by, Diagram then) {
  if (!by)
    return then;
  return space_.relabel(then, [&](Terminal t) {
    Ending ending = endings_.at(t);
    for (Way& way : ending.ways) {
      const bool passes = way.end == End::Continue || way.end == End::Return;
      if (passes && (!way.by || weight(*by) > weight(*way.by)))
        way.by = by;
    }
    return endings_.number(std::move(ending));
  });
}

// `first`, and wherever a way of it continues, `second`.
Diagram Symbolic::then(Diagram first, Diagram second) {
  const Terminal plain = Endings::of(End::Continue);
  if (second == of(End::Continue))
    return first;
  Diagram out = space_.fill(first, plain, second);
  if (endings_.only_plain())
    return out;
  for (const Terminal terminal : space_.terminals(first)) {
    const Ending ending = endings_.at(terminal);
    const bool goes_on = std::any_of(ending.ways.begin(), ending.ways.end(),
                                     [](const Way& way) { return way.end == End::Continue; });
    if (terminal == plain || !goes_on)
      continue;
    std::optional<Diagram> all;
    for (const Way& way : ending.ways) {
      const Diagram ends = way.end == End::Continue
                               ? decided_before(way.by, changed(way.changes, second))
                               : space_.constant(endings_.number({{way}, {}}));
      all = all ? space_.apply(*all, ends,
                               [&](Terminal a, Terminal b) { return endings_.either(a, b, {}); })
                : ends;
    }
    // Rules that chose between the ways still do.
    all = space_.relabel(*all, [&](Terminal t) {
      Ending both = endings_.at(t);
      both.unknown.insert(both.unknown.end(), ending.unknown.begin(), ending.unknown.end());
      std::sort(both.unknown.begin(), both.unknown.end());
      both.unknown.erase(std::unique(both.unknown.begin(), both.unknown.end()), both.unknown.end());
      return endings_.number(std::move(both));
    });
    out = space_.if_then_else(space_.where(first, terminal), *all, out);
  }
  return out;
}

}  // namespace bulkhead::compiler::proof
