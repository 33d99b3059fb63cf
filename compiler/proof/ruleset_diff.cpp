#include "compiler/proof/ruleset_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "compiler/proof/doubts.h"

namespace bulkhead::compiler::proof {

namespace {

constexpr std::array kKinds{ChangeKind::Opens,    ChangeKind::MayOpen,   ChangeKind::Closes,
                            ChangeKind::MayClose, ChangeKind::Redirects, ChangeKind::Unknown};
// Terminals of a sorted diagram: 0 for what did not change, else one more than the kind.
constexpr Terminal kSame = 0;
constexpr Terminal terminal_of(ChangeKind kind) {
  return static_cast<Terminal>(kind) + 1;
}

bool passes(Outcome outcome) {
  return outcome == Outcome::Accept;
}
bool stops(Outcome outcome) {
  return outcome == Outcome::Drop || outcome == Outcome::Reject;
}

bool is_translation(Field field) {
  constexpr std::array kFields{Field::Source4,      Field::Destination4, Field::Source6,
                               Field::Destination6, Field::SourcePort,   Field::DestinationPort};
  return std::find(kFields.begin(), kFields.end(), field) != kFields.end();
}

// Where the packet goes and as whose, whichever rule made it so.
std::set<Changes> translations(const Ending& ending) {
  std::set<Changes> out;
  for (const Way& way : ending.ways) {
    if (way.end != End::Accept && way.end != End::Continue)
      continue;
    Changes kept;
    for (Change change : way.changes)
      if (is_translation(change.field)) {
        change.by = {};
        kept.push_back(change);
      }
    out.insert(std::move(kept));
  }
  return out;
}

// What a rule asks outside the model, as listed, and its verdict where that holds.
struct Question {
  std::vector<std::string> asks;
  VerdictKind then{};
  bool operator==(const Question&) const = default;
};
// nft 1.0.6 lists zeroes for some elements of concatenations: two that are listed alike may differ.
bool is_listed_well(const Unmodelled& beyond) {
  return !beyond.json.empty() && beyond.json.find("\"concat\"") == std::string::npos;
}
// Nothing where more than one rule decides, a policy does (no rule to look into), or the rule
// decides by what the model has: an address that a translation chose, or another chain.
std::optional<Question> one_question(const Ruleset& ruleset, const Ending& ending) {
  if (ending.unknown.size() != 1)
    return {};
  const RuleRef& ref = *ending.unknown.begin();
  if (ref.chain == kNone || ref.rule == kNone)
    return {};
  Question out;
  const auto& statements = ruleset.chains[ref.chain].rules[ref.rule].statements;
  for (const Statement& statement : statements)
    if (const auto* beyond = std::get_if<Unmodelled>(&statement)) {
      if (!is_listed_well(*beyond))
        return {};
      out.asks.push_back(beyond->json);
    }
  const auto* last = statements.empty() ? nullptr : std::get_if<Decide>(&statements.back());
  if (out.asks.empty() || last == nullptr)
    return {};
  out.then = last->verdict.kind;
  const bool ends_here = out.then == VerdictKind::Accept || out.then == VerdictKind::Drop ||
                         out.then == VerdictKind::Reject;
  return ends_here ? std::optional(out) : std::nullopt;
}

std::set<End> ends(const Ending& ending) {
  std::set<End> out;
  for (const Way& way : ending.ways)
    out.insert(way.end);
  return out;
}

class Differ {
 public:
  Differ(const Ruleset& before, const Ruleset& after, const Naming& naming, std::size_t limit,
         const Budget& budget)
      : before_(before), after_(after), naming_(naming), limit_(limit), space_(budget) {}

  RulesetDiff run() {
    add_doubts();
    try {
      Symbolic before(space_, endings_, before_), after(space_, endings_, after_);
      for (const Passage passage : kPassages) {
        out_.passages.push_back(compare(passage, before, after));
        ambiguous("before", before_, before, passage);
        ambiguous("after", after_, after, passage);
      }
    } catch (const OutOfBudget& error) {
      out_.not_decided = fmt::format("too large to decide: {}", error.what());
    }
    return std::move(out_);
  }

 private:
  // One rule on each side, which asks the same outside the model and decides the same where that
  // holds: then the other end is what comes where it does not. Of two such rules the ends do not
  // say which led where. What an effect outside the model leads to (End::Unknown) is not known to
  // be the same.
  bool are_alike(const Ending& a, const Ending& b) const {
    const auto one = one_question(before_, a);
    return one && one == one_question(after_, b) && ends(a) == ends(b) &&
           !ends(a).contains(End::Unknown);
  }

  Terminal classify(Terminal x, Terminal y) const {
    const Ending& a = endings_.at(x);
    const Ending& b = endings_.at(y);
    const Outcome was = outcome_of(a), is = outcome_of(b);
    if (was == Outcome::Unknown || is == Outcome::Unknown)
      return are_alike(a, b) ? kSame : terminal_of(ChangeKind::Unknown);
    if (stops(was))
      return stops(is) ? kSame : terminal_of(passes(is) ? ChangeKind::Opens : ChangeKind::MayOpen);
    if (stops(is))
      return terminal_of(passes(was) ? ChangeKind::Closes : ChangeKind::MayClose);
    if (passes(was) != passes(is))  // a limit came or went
      return terminal_of(passes(was) ? ChangeKind::MayClose : ChangeKind::MayOpen);
    return translations(a) == translations(b) ? kSame : terminal_of(ChangeKind::Redirects);
  }

  PassageDiff compare(Passage passage, Symbolic& before, Symbolic& after) {
    const Diagram sorted = space_.apply(doing(before, passage), doing(after, passage),
                                        [&](Terminal x, Terminal y) { return classify(x, y); });
    // What chains never see because conntrack puts it together first (fragments) is not compared
    // where only one side does so, but for this: a packet that passes now opens something.
    const Diagram now = possible_in("after", after_, passage, sorted);
    const Diagram both = space_.intersect(now, possible_in("before", before_, passage, sorted));
    // Later packets of a connection are translated as its first one was.
    const Diagram first =
        space_.complement(space_.equal(Field::CtState, static_cast<Value>(CtState::Established)));
    PassageDiff out;
    out.passage = passage;
    for (const ChangeKind kind : kKinds) {
      const bool opens = kind == ChangeKind::Opens || kind == ChangeKind::MayOpen;
      Diagram packets =
          space_.intersect(space_.where(sorted, terminal_of(kind)), opens ? now : both);
      if (kind == ChangeKind::Redirects)
        packets = space_.intersect(packets, first);
      tell(kind, packets, out);
    }
    std::stable_sort(out.changes.begin(), out.changes.end(),
                     [](const RulesetChange& a, const RulesetChange& b) {
                       return comes_before(a.what, b.what);
                     });
    return out;
  }

  Diagram possible_in(std::string_view side, const Ruleset& ruleset, Passage passage,
                      Diagram sorted) {
    const Possible here = possible_for(space_, ruleset, passage, sorted);
    for (const Field field : here.taken_as_zero)
      add_doubt(side, doubt_about(field));
    return here.packets;
  }

  // As a comparison with a policy would tell it.
  void tell(ChangeKind kind, Diagram packets, PassageDiff& out) {
    Comparison comparison;
    comparison.passage = out.passage;
    switch (kind) {
      case ChangeKind::Opens:
      case ChangeKind::Redirects:
        comparison.opens = packets;
        break;
      case ChangeKind::MayOpen:
        comparison.may_open = packets;
        break;
      case ChangeKind::Closes:
        comparison.closes = packets;
        break;
      case ChangeKind::MayClose:
        comparison.may_close = packets;
        break;
      case ChangeKind::Unknown:
        comparison.unknown = packets;
        break;
    }
    for (Finding& finding : differences(space_, comparison, after_, naming_, limit_).findings) {
      RulesetChange change{kind, std::move(finding), {}};
      for (const Difference& one : change.what.differences)
        change.rules_before.push_back(way_of(before_, one.example.packet, out.passage));
      out.changes.push_back(std::move(change));
    }
  }

  void add_doubts() {
    for (const auto& [side, ruleset] : {std::pair("before", &before_), std::pair("after", &after_)})
      for (const std::string& doubt : doubts(*ruleset))
        out_.doubts.push_back(fmt::format("{}: {}", side, doubt));
    const auto was = zones(before_), is = zones(after_);
    if (!was || !is)
      out_.doubts.push_back(
          fmt::format("{}: conntrack zones are set in a way that the proof does not follow",
                      was ? "after" : "before"));
    else if (*was != *is)
      out_.doubts.emplace_back(
          "conntrack zones are not the same, so replies may be told otherwise");
  }

  void ambiguous(std::string_view side, const Ruleset& ruleset, Symbolic& rules, Passage passage) {
    for (const Station& station : stations(passage))
      for (const auto& [a, b] : rules.ambiguous_order(station.family, station.hook))
        add_doubt(side, fmt::format("{} and {} have one priority, and their order changes the "
                                    "answer",
                                    chain_name(ruleset, a), chain_name(ruleset, b)));
  }

  void add_doubt(std::string_view side, const std::string& doubt) {
    std::string text = fmt::format("{}: {}", side, doubt);
    if (std::find(out_.doubts.begin(), out_.doubts.end(), text) == out_.doubts.end())
      out_.doubts.push_back(std::move(text));
  }

  const Ruleset& before_;
  const Ruleset& after_;
  const Naming& naming_;
  std::size_t limit_;
  Diagrams space_;
  Endings endings_;
  RulesetDiff out_;
};

}  // namespace

std::string_view to_string(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::Opens:
      return "opens";
    case ChangeKind::MayOpen:
      return "may open";
    case ChangeKind::Closes:
      return "closes";
    case ChangeKind::MayClose:
      return "may close";
    case ChangeKind::Redirects:
      return "redirects";
    case ChangeKind::Unknown:
      return "unknown";
  }
  return "";
}

bool RulesetDiff::is_equal() const {
  return not_decided.empty() && doubts.empty() &&
         std::all_of(passages.begin(), passages.end(),
                     [](const PassageDiff& passage) { return passage.changes.empty(); });
}

RulesetDiff diff(const Ruleset& before, const Ruleset& after, const Naming& naming,
                 std::size_t limit, const Budget& budget) {
  return Differ(before, after, naming, limit, budget).run();
}

}  // namespace bulkhead::compiler::proof
