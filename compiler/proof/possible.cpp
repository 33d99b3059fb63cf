#include "compiler/proof/possible.h"

#include <fmt/format.h>

#include <algorithm>

namespace bulkhead::compiler::proof {

namespace {

constexpr Value kFragmentHeader = 44;

// `ip6 nexthdr` is the protocol itself, or the first of the extension headers that the kernel walks
// over to find it (kernel 6.18: ipv6_ext_hdr).
Diagram headers_agree(Diagrams& space) {
  std::vector<Branch> branches;
  for (Value header = 0; header <= max_of(Field::NextHeader); ++header) {
    const bool is_extension =
        header == 0 || header == 43 || header == kFragmentHeader || header == 51 || header == 60;
    branches.push_back({{header, header},
                        is_extension ? space.everything() : space.equal(Field::Protocol, header)});
  }
  const Diagram agree =
      space.subtract(space.branch(Field::NextHeader, std::move(branches), space.everything()),
                     space.intersect(space.equal(Field::NextHeader, kFragmentHeader),
                                     space.equal(Field::FragmentHeader, 0)));
  return space.unite(space.complement(space.equal(Field::Family, kIpv6)), agree);
}

bool asks_connection(const Operands& key) {
  return std::any_of(key.begin(), key.end(), [](const Operand& operand) {
    return info(operand.selector).base == Base::Conntrack;
  });
}

struct AsksConnection {
  bool operator()(const Match& match) const { return asks_connection(match.key); }
  bool operator()(const VerdictMap& map) const { return asks_connection(map.key); }
  bool operator()(const Assign& assign) const {
    if (info(assign.target).base == Base::Conntrack)
      return true;
    const auto* operand = std::get_if<Operand>(&assign.value);
    const auto* lookup = std::get_if<Lookup>(&assign.value);
    return (operand != nullptr && asks_connection({*operand})) ||
           (lookup != nullptr && asks_connection(lookup->key));
  }
  bool operator()(const Nat&) const { return true; }
  template <class Other>
  bool operator()(const Other&) const {
    return false;
  }
};

// The fragments that are not seen for that reason. Of IPv6 not even a fragment header is left, of
// a datagram in one piece neither (kernel 6.18: nf_ct_frag6_reasm takes it out).
Diagram put_together(Diagrams& space, const Ruleset& ruleset) {
  const Diagram fragments = space.complement(space.masked(
      space.equal(Field::Fragment, 0), Field::Fragment, kFragmentOffset | kMoreFragments, 0));
  Diagram out = space.nothing();
  for (const Family family : kFamilies)
    if (tracks_connections(ruleset, family))
      out = space.unite(
          out,
          space.intersect(space.equal(Field::Family, family == Family::V4 ? kIpv4 : kIpv6),
                          family == Family::V4
                              ? fragments
                              : space.unite(fragments, space.equal(Field::FragmentHeader, 1))));
  return out;
}

// ---- marks and zones

bool sets(const Statement& statement, Selector target) {
  const auto* assign = std::get_if<Assign>(&statement);
  const auto* unmodelled = std::get_if<Unmodelled>(&statement);
  return (assign != nullptr && assign->target == target) ||
         (unmodelled != nullptr && unmodelled->kind == Unmodelled::Kind::Effect);
}

bool is_set(const Ruleset& ruleset, Selector target) {
  return std::any_of(ruleset.chains.begin(), ruleset.chains.end(), [&](const Chain& chain) {
    return std::any_of(chain.rules.begin(), chain.rules.end(), [&](const Rule& rule) {
      return std::any_of(rule.statements.begin(), rule.statements.end(),
                         [&](const Statement& what) { return sets(what, target); });
    });
  });
}

// Fields that are 0 in a packet as it comes, as far as the rules go. Marks that rules set on the
// way are not asked for any more. A socket chooses the mark of what it sends.
std::vector<Field> zero_on_arrival(const Ruleset& ruleset, Passage passage) {
  std::vector<Field> out;
  if (!is_set(ruleset, Selector::CtMark))
    out.push_back(Field::CtMark);
  if (!is_set(ruleset, Selector::CtZone))
    out.push_back(Field::CtZone);
  if (passage != Passage::Output)
    out.push_back(Field::Mark);
  return out;
}

}  // namespace

bool tracks_connections(const Ruleset& ruleset, Family family) {
  return std::any_of(ruleset.chains.begin(), ruleset.chains.end(), [&](const Chain& chain) {
    const TableFamily of = ruleset.table_of(chain).family;
    if (of != TableFamily::Inet &&
        of != (family == Family::V4 ? TableFamily::Ip : TableFamily::Ip6))
      return false;
    return std::any_of(chain.rules.begin(), chain.rules.end(), [](const Rule& rule) {
      return std::any_of(
          rule.statements.begin(), rule.statements.end(),
          [](const Statement& statement) { return std::visit(AsksConnection{}, statement); });
    });
  });
}

Diagram possible(Diagrams& space, const Ruleset& ruleset, Passage passage) {
  Diagram out = space.in(Field::Family, {{kIpv4, kIpv4}, {kIpv6, kIpv6}});
  const Diagram no_in = space.equal(Field::InInterface, 0);
  const Diagram no_out = space.equal(Field::OutInterface, 0);
  const Diagram by_loopback = space.unite(space.equal(Field::InInterface, interface_name("lo")),
                                          space.equal(Field::OutInterface, interface_name("lo")));
  switch (passage) {
    case Passage::Input:
      out = space.intersect(out, space.subtract(no_out, no_in));
      break;
    case Passage::Forward:
      out = space.subtract(space.subtract(space.subtract(out, no_in), no_out), by_loopback);
      break;
    case Passage::Output:
      out = space.intersect(out, space.subtract(no_in, no_out));
      break;
  }
  // The first packet of a connection is what its direction is named after.
  const Diagram backwards =
      space.intersect(space.equal(Field::CtState, static_cast<Value>(CtState::New)),
                      space.equal(Field::CtDirection, kReply));
  // Without a fragment header an IPv6 packet is whole.
  const Diagram whole = space.intersect(
      space.equal(Field::Family, kIpv6),
      space.subtract(space.equal(Field::FragmentHeader, 0), space.equal(Field::Fragment, 0)));
  return space.subtract(space.subtract(space.subtract(out, backwards), whole),
                        put_together(space, ruleset));
}

Possible possible_for(Diagrams& space, const Ruleset& ruleset, Passage passage, Diagram does) {
  Possible out{possible(space, ruleset, passage), {}};
  const auto fields = space.asked(does);
  const auto is_asked = [&](Field field) {
    return std::find(fields.begin(), fields.end(), field) != fields.end();
  };
  if (is_asked(Field::NextHeader))
    out.packets = space.intersect(out.packets, headers_agree(space));
  // ip_forward drops a packet that has a socket (kernel 6.18), so no rule reads one's owner.
  if (passage == Passage::Forward && is_asked(Field::LocalSocket))
    out.packets = space.intersect(out.packets, space.equal(Field::LocalSocket, 0));
  for (const Field field : zero_on_arrival(ruleset, passage)) {
    if (!is_asked(field))
      continue;
    // Of possible packets, not of any.
    const Diagram here = space.if_then_else(
        out.packets, space.relabel(does, [](Terminal t) { return t + 1; }), space.nothing());
    const auto asked_here = space.asked(here);
    if (std::find(asked_here.begin(), asked_here.end(), field) == asked_here.end())
      continue;
    out.packets = space.intersect(out.packets, space.equal(field, 0));
    out.taken_as_zero.push_back(field);
  }
  return out;
}

std::string doubt_about(Field taken_as_zero) {
  return fmt::format(
      "rules ask for {}, which none of them sets: it is taken as 0. A program that sets it (tc, "
      "conntrack, an agent) may open what is closed here, or close it",
      info(taken_as_zero).name);
}

}  // namespace bulkhead::compiler::proof
