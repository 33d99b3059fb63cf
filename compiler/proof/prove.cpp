#include "compiler/proof/prove.h"

#include <algorithm>

namespace bulkhead::compiler::proof {

namespace {

constexpr Terminal kNo = static_cast<Terminal>(Wanted::No);
constexpr Terminal kMust = static_cast<Terminal>(Wanted::Must);

bool is_destination(Field field) {
  return field == Field::Destination4 || field == Field::Destination6 ||
         field == Field::DestinationPort;
}

bool passes(const Way& way) {
  return way.end == End::Accept || way.end == End::Continue;
}

// What is wanted of a packet whose destination the rules changed so. Nothing where the new one is
// not known.
std::optional<Diagram> behind(Diagrams& space, Diagram wanted, const Changes& changes) {
  for (const Change& change : changes) {
    if (!is_destination(change.field))
      continue;
    if (!change.value)
      return std::nullopt;
    wanted = space.fix(wanted, change.field, *change.value);
  }
  return wanted;
}

// Later packets of a translated connection, its first one sent again and errors about it included:
// they go where its first packet went, and that one is looked at as new. What their addresses
// become is not in the packet.
Diagram translated(Diagrams& space) {
  const Diagram untouched =
      space.masked(space.equal(Field::CtStatus, 0), Field::CtStatus, kStatusSnat | kStatusDnat, 0);
  std::vector<ValueRange> tracked;
  for (const CtState state : {CtState::New, CtState::Established, CtState::Related})
    tracked.push_back({static_cast<Value>(state), static_cast<Value>(state)});
  return space.subtract(space.in(Field::CtState, std::move(tracked)), untouched);
}

// To an address or a port that is not known.
bool moves(const Ending& ending) {
  return std::any_of(ending.ways.begin(), ending.ways.end(), [](const Way& way) {
    return std::any_of(way.changes.begin(), way.changes.end(),
                       [](const Change& change) { return !change.value && !change.copy; });
  });
}

class Sorter {
 public:
  Sorter(Diagrams& space, Diagram wanted, Comparison& out)
      : space_(space), wanted_(wanted), translated_(translated(space)), out_(out) {}

  void take(const Ending& ending, Diagram packets) {
    const Outcome outcome = outcome_of(ending);
    if (outcome == Outcome::Unknown) {
      const Diagram later =
          moves(ending) ? space_.intersect(packets, translated_) : space_.nothing();
      out_.unknown = space_.unite(out_.unknown, space_.subtract(packets, later));
      set_aside(later);
      return;
    }
    const bool decided = outcome != Outcome::Either;
    for (const Way& way : ending.ways) {
      if (passes(way))
        passed(way, packets, decided ? out_.opens : out_.may_open);
      else
        add(decided ? out_.closes : out_.may_close, packets, wanted_, kMust);
    }
  }

 private:
  void passed(const Way& way, Diagram packets, Diagram& into) {
    if (const auto wanted = behind(space_, wanted_, way.changes)) {
      add(into, packets, *wanted, kNo);
      return;
    }
    out_.unknown = space_.unite(out_.unknown, space_.subtract(packets, translated_));
    set_aside(space_.intersect(packets, translated_));
  }

  void set_aside(Diagram packets) { out_.translated = space_.unite(out_.translated, packets); }

  void add(Diagram& into, Diagram packets, Diagram wanted, Terminal terminal) {
    into = space_.unite(into, space_.intersect(packets, space_.where(wanted, terminal)));
  }

  Diagrams& space_;
  Diagram wanted_;
  Diagram translated_;
  Comparison& out_;
};

// `ip6 nexthdr` is the protocol itself, or the first of the extension headers that the kernel walks
// over to find it (kernel 6.18: ipv6_ext_hdr).
Diagram headers_agree(Diagrams& space) {
  std::vector<Branch> branches;
  for (Value header = 0; header <= max_of(Field::NextHeader); ++header) {
    const bool is_extension =
        header == 0 || header == 43 || header == 44 || header == 51 || header == 60;
    branches.push_back({{header, header},
                        is_extension ? space.everything() : space.equal(Field::Protocol, header)});
  }
  return space.unite(space.complement(space.equal(Field::Family, kIpv6)),
                     space.branch(Field::NextHeader, std::move(branches), space.everything()));
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

// The fragments that are not seen for that reason.
Diagram put_together(Diagrams& space, const Ruleset& ruleset) {
  const Diagram fragments = space.complement(space.masked(
      space.equal(Field::Fragment, 0), Field::Fragment, kFragmentOffset | kMoreFragments, 0));
  Diagram out = space.nothing();
  for (const Family family : kFamilies)
    if (tracks_connections(ruleset, family))
      out = space.unite(
          out, space.intersect(space.equal(Field::Family, family == Family::V4 ? kIpv4 : kIpv6),
                               fragments));
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

std::string_view to_string(Passage passage) {
  switch (passage) {
    case Passage::Input:
      return "input";
    case Passage::Forward:
      return "forward";
    case Passage::Output:
      return "output";
  }
  return "";
}

std::vector<Station> stations(Passage passage) {
  switch (passage) {
    case Passage::Input:
      return input_way(TableFamily::Inet);
    case Passage::Forward:
      return forward_way(TableFamily::Inet);
    case Passage::Output:
      return output_way(TableFamily::Inet);
  }
  return {};
}

Diagram of(const Intent& intent, Passage passage) {
  switch (passage) {
    case Passage::Input:
      return intent.input;
    case Passage::Forward:
      return intent.forward;
    case Passage::Output:
      break;
  }
  return intent.output;
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

bool Comparison::equal() const {
  const Diagram nothing;
  return opens == nothing && closes == nothing && may_open == nothing && may_close == nothing &&
         unknown == nothing;
}

Diagram doing(Symbolic& rules, Passage passage) {
  const auto way = stations(passage);
  return rules.way(way);
}

Comparison compare(Diagrams& space, const Endings& endings, Passage passage, Diagram here,
                   Diagram does, Diagram wanted) {
  Comparison out;
  out.passage = passage;
  // Of use only where rules ask for it, and costly where they do not.
  const auto asked = space.asked(does);
  if (std::find(asked.begin(), asked.end(), Field::NextHeader) != asked.end())
    here = space.intersect(here, headers_agree(space));
  Sorter sorter(space, wanted, out);
  for (const Terminal terminal : space.terminals(does))
    sorter.take(endings.at(terminal), space.intersect(space.where(does, terminal), here));
  const long double all = space.fraction(here);
  out.unknown_share = all > 0 ? space.fraction(out.unknown) / all : 0;
  out.translated_share = all > 0 ? space.fraction(out.translated) / all : 0;
  return out;
}

}  // namespace bulkhead::compiler::proof
