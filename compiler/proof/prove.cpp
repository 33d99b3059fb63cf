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

}  // namespace

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
  Sorter sorter(space, wanted, out);
  for (const Terminal terminal : space.terminals(does))
    sorter.take(endings.at(terminal), space.intersect(space.where(does, terminal), here));
  const long double all = space.fraction(here);
  out.unknown_share = all > 0 ? space.fraction(out.unknown) / all : 0;
  out.translated_share = all > 0 ? space.fraction(out.translated) / all : 0;
  return out;
}

}  // namespace bulkhead::compiler::proof
