#include "compiler/proof/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "compiler/proof/deciders.h"
#include "compiler/proof/senders.h"

namespace bulkhead::compiler::proof {

namespace {

// Rules that get a finding of their own; behind them they share one.
constexpr std::size_t kMostCauses = 64;

constexpr Value value_of(CtState state) {
  return static_cast<Value>(state);
}

bool is_state(Field field) {
  return field >= Field::CtState && field <= Field::CtReplyDestinationPort;
}
bool is_interface(Field field) {
  return field == Field::InInterface || field == Field::InPort || field == Field::OutInterface;
}

Deciders::Of decider_of(Effect effect) {
  switch (effect) {
    case Effect::Opens:
    case Effect::MayOpen:
    case Effect::MayClose:  // the rule with the limit, not the one that is met without it
      return Deciders::Of::Passing;
    case Effect::Closes:
      return Deciders::Of::Stopped;
    case Effect::Unknown:
      break;
  }
  return Deciders::Of::Unknown;
}

bool is_at_home(Subject subject) {
  return subject == Subject::Tenants || subject == Subject::Classes;
}

// Packets of one subject and cause, or of several causes together.
struct Group {
  Effect effect{};
  Subject subject{};
  std::vector<RuleRef> causes;
  std::size_t more_causes = 0;
  Diagram packets;
  bool by_state_alone = false;  // the cause lets nothing begin: it looks at the state
};

class Teller {
 public:
  Teller(Diagrams& space, const Comparison& comparison, const Ruleset& ruleset,
         const Naming& naming, std::size_t limit)
      : space_(space),
        comparison_(comparison),
        ruleset_(ruleset),
        naming_(naming),
        limit_(limit),
        subjects_(space, naming.site(), naming.view(), comparison.passage),
        is_new_(space.equal(Field::CtState, value_of(CtState::New))) {
    if (naming.site() != nullptr && naming.view() != nullptr) {
      familiar_ = familiar(*naming.site(), *naming.view());
      senders_.emplace(*naming.site(), *naming.view());
    }
  }

  Differences tell() {
    const std::pair<Effect, Diagram> sets[] = {{Effect::Opens, comparison_.opens},
                                               {Effect::MayOpen, comparison_.may_open},
                                               {Effect::Closes, comparison_.closes},
                                               {Effect::MayClose, comparison_.may_close},
                                               {Effect::Unknown, comparison_.unknown}};
    Differences out;
    if (std::all_of(std::begin(sets), std::end(sets),
                    [&](const auto& set) { return set.second == space_.nothing(); }))
      return out;
    Deciders deciders(space_, ruleset_, comparison_.passage);
    for (const auto& [effect, set] : sets)
      for (const Group& group : groups(effect, set, deciders))
        out.findings.push_back(finding(group));
    std::stable_sort(out.findings.begin(), out.findings.end(), comes_before);
    return out;
  }

 private:
  // ---- who is grouped with whom

  std::vector<Group> groups(Effect effect, Diagram set, Deciders& deciders) {
    std::vector<Group> out;
    if (set == space_.nothing())
      return out;
    std::map<Subject, Group> shared;  // what several causes do alike
    const auto parts = deciders.split(set, decider_of(effect), kMostCauses);
    const auto add = [&](const std::vector<RuleRef>& causes, std::size_t more, Diagram packets) {
      const Diagram begins = space_.intersect(packets, is_new_);
      if (begins == space_.nothing()) {
        out.push_back({effect, Subject::State, causes, more, packets, true});
        return;
      }
      // Later packets of what begins are the same difference.
      const Diagram along = space_.intersect(packets, without(begins, is_state));
      for (const auto& [subject, part] : subjects_.parts())
        put(effect, subject, causes, more, space_.intersect(along, part), out, shared);
      put(effect, Subject::State, causes, more, space_.subtract(packets, along), out, shared);
    };
    for (const Deciders::Part& part : parts.list)
      add({part.rule}, 0, part.packets);
    if (parts.rest != space_.nothing())
      add({}, parts.rest_rules, parts.rest);
    for (auto& [subject, group] : shared)
      out.push_back(std::move(group));
    return out;
  }

  // By cause where that is what people ask; all together of the later subjects.
  void put(Effect effect, Subject subject, const std::vector<RuleRef>& causes, std::size_t more,
           Diagram packets, std::vector<Group>& out, std::map<Subject, Group>& shared) {
    if (packets == space_.nothing())
      return;
    if (is_at_home(subject) || subject == Subject::Any) {
      out.push_back({effect, subject, causes, more, packets, false});
      return;
    }
    Group& group = shared[subject];
    group.effect = effect;
    group.subject = subject;
    group.causes.insert(group.causes.end(), causes.begin(), causes.end());
    group.more_causes += more;
    group.packets = space_.unite(group.packets, packets);
  }

  // ---- what is said of a group

  Finding finding(const Group& group) {
    Finding out;
    out.effect = group.effect;
    out.passage = comparison_.passage;
    out.subject = group.subject;
    out.more_causes = group.more_causes;
    for (const RuleRef& cause : group.causes)
      out.causes.push_back(described(ruleset_, cause));
    out.begins = space_.intersect(group.packets, is_new_) != space_.nothing();
    if (group.subject == Subject::State)
      tell_states(group, out);
    else
      tell_boxes(group, out);
    return out;
  }

  void tell_boxes(const Group& group, Finding& out) {
    Diagram packets = group.packets;
    // New connections say it all where there are any.
    if (out.begins)
      packets = space_.intersect(packets, is_new_);
    const auto shown = [&](Diagram set) {
      return without(set, [&](Field field) {
        return field == Field::FragmentHeader || (out.begins && is_state(field)) ||
               (is_at_home(group.subject) && is_interface(field));
      });
    };
    // Whole packets first: most values of the field are fragments, and would come before them.
    const Diagram whole =
        space_.intersect(packets, space_.masked(space_.equal(Field::Fragment, 0), Field::Fragment,
                                                kFragmentOffset | kMoreFragments, 0));
    const Diagram as_whole = space_.exists(whole, Field::Fragment);
    add_boxes(whole, shown(as_whole), limit_, "", out);
    const Diagram rest = space_.subtract(packets, as_whole);
    if (out.differences.size() < limit_)
      add_boxes(rest, shown(rest), limit_ - out.differences.size(), "", out);
    else
      out.complete &= rest == space_.nothing();
  }

  // By state, since that is what such rules ask.
  void tell_states(const Group& group, Finding& out) {
    const Diagram original = space_.equal(Field::CtDirection, kOriginal);
    const auto is = [&](CtState state) { return space_.equal(Field::CtState, value_of(state)); };
    struct Kind {
      std::string_view name;
      Diagram packets;
      std::string_view note;  // of openings
    };
    const Kind kinds[] = {
        {"later packets of a connection, in its first direction",
         space_.intersect(is(CtState::Established), original),
         "Later packets of a connection whose first packet the policy denies. Harmless where no "
         "such connection can begin and none is left from other rules: nothing else looks at "
         "them, so that what is no longer allowed goes on until it ends (`conntrack -D` ends it)."},
        {"replies", space_.subtract(is(CtState::Established), original),
         "Replies of such connections, and replies by any leg or from any place: whoever forges "
         "the addresses of a connection that exists rides on it. Harmless where the source is "
         "checked before the state is asked."},
        {"related to a connection", is(CtState::Related),
         "Whatever conntrack relates to a connection, where the policy has ICMP errors about "
         "allowed flows alone. Harmless where no helper (ftp, sip, ...) is loaded: with one, its "
         "data connections come in this way."},
        {"invalid for conntrack", is(CtState::Invalid),
         "Packets that belong to no connection and begin none (scans, packets out of order): few "
         "hosts answer them."},
        {"untracked", is(CtState::Untracked),
         "Seen only where a rule says `notrack`, or the kernel leaves neighbour discovery out."}};
    const bool opens = group.effect == Effect::Opens || group.effect == Effect::MayOpen;
    for (const Kind& kind : kinds) {
      Diagram packets = space_.intersect(group.packets, kind.packets);
      if (packets == space_.nothing())
        continue;
      // Between classes, where that is possible: what else there is comes with it.
      if (const Diagram home = space_.intersect(packets, subjects_.at_home());
          home != space_.nothing())
        packets = home;
      // Of traffic the protocols alone: what a policy allows of them makes many boxes.
      const Diagram shown = without(packets, [](Field field) {
        return field != Field::Family && field != Field::Protocol && field != Field::Source4 &&
               field != Field::Source6 && field != Field::Destination4 &&
               field != Field::Destination6;
      });
      const bool complete = out.complete;
      add_boxes(packets, shown, 1, kind.name, out);
      out.complete = complete;  // of each kind one is enough
      if (opens && group.by_state_alone)
        out.notes.emplace_back(kind.note);
    }
  }

  void add_boxes(Diagram packets, Diagram shown, std::size_t limit, std::string_view state,
                 Finding& out) {
    const Boxes found = boxes(space_, shown, limit);
    out.complete &= found.complete;
    for (const Box& box : found.boxes)
      for (const Family family : families(box)) {
        const Diagram of_family = space_.equal(Field::Family, family == Family::V4 ? kIpv4 : kIpv6);
        const Diagram here =
            space_.intersect(packets, space_.intersect(to_set(space_, box), of_family));
        auto example = example_of(space_, space_.intersect(here, subjects_.usual()), familiar_);
        if (!example)
          example = example_of(space_, here, familiar_);
        if (!example)
          continue;
        Difference next{{family}, naming_.name(box, family), std::move(*example), {}, {}, {}};
        if (!state.empty())
          next.box.state = state;
        if (is_at_home(out.subject))
          next.policy = words_of_policy(*naming_.site(), box, family);
        if (merged(next, out.differences))
          continue;
        next.rules = way_of(ruleset_, next.example.packet, comparison_.passage);
        next.not_sendable =
            senders_ ? senders_->why_not(next.example, next.box.others) : "no hosts are known";
        out.differences.push_back(std::move(next));
      }
  }

  static bool merged(const Difference& next, std::vector<Difference>& known) {
    const auto alike = std::find_if(known.begin(), known.end(),
                                    [&](const Difference& other) { return other.box == next.box; });
    if (alike == known.end())
      return false;
    if (alike->families.back() != next.families.front())
      alike->families.push_back(next.families.front());
    return true;
  }

  template <class Which>
  Diagram without(Diagram set, const Which& which) {
    for (const Field field : space_.asked(set))
      if (which(field))
        set = space_.exists(set, field);
    return set;
  }

  Diagrams& space_;
  const Comparison& comparison_;
  const Ruleset& ruleset_;
  const Naming& naming_;
  std::size_t limit_;
  Subjects subjects_;
  Diagram is_new_;
  Familiar familiar_;
  std::optional<Senders> senders_;
};

bool opens_connections(const Finding& finding) {
  return finding.begins && is_at_home(finding.subject) &&
         (finding.effect == Effect::Opens || finding.effect == Effect::MayOpen);
}

bool crosses(const Finding& finding) {
  return std::any_of(finding.differences.begin(), finding.differences.end(),
                     [](const Difference& one) { return !one.policy.nevers.empty(); });
}

}  // namespace

std::string_view to_string(Effect effect) {
  switch (effect) {
    case Effect::Opens:
      return "opens";
    case Effect::MayOpen:
      return "may open";
    case Effect::Closes:
      return "closes";
    case Effect::MayClose:
      return "may close";
    case Effect::Unknown:
      return "unknown";
  }
  return "";
}

void say_whether_harmless(std::span<Differences* const> passages) {
  std::size_t openings = 0;
  for (const Differences* passage : passages)
    openings += static_cast<std::size_t>(
        std::count_if(passage->findings.begin(), passage->findings.end(), opens_connections));
  for (Differences* passage : passages)
    for (Finding& finding : passage->findings)
      if (finding.subject == Subject::State && !finding.notes.empty())
        finding.notes.push_back(
            openings == 0
                ? "Here nothing else lets a connection between classes begin that the policy "
                  "denies: what is left are connections from before these rules, and forged "
                  "packets."
                : fmt::format("Here it also carries on what {} of the findings before this one "
                              "let begin.",
                              openings));
}

bool comes_before(const Finding& a, const Finding& b) {
  return std::tuple(a.subject, a.effect, !crosses(a)) <
         std::tuple(b.subject, b.effect, !crosses(b));
}

std::vector<std::string> way_of(const Ruleset& ruleset, const Packet& packet, Passage passage) {
  const auto way = stations(passage);
  const TableFamily family = family_of(packet);
  std::vector<Station> here;
  for (Station station : way) {
    if (station.family == TableFamily::Inet)
      station.family = family;
    here.push_back(station);
  }
  const Answer answer = interpret(ruleset, packet, here);
  std::vector<std::string> out;
  if (answer.runs.empty())
    return out;
  for (const Step& step : answer.runs.front().steps)
    out.push_back((step.rule == kNone ? chain_name(ruleset, step.chain)
                                      : name_of(ruleset, RuleRef{step.chain, step.rule})) +
                  ": " + step.what);
  for (const std::string& because : answer.runs.front().because)
    out.push_back(because);
  return out;
}

Differences differences(Diagrams& space, const Comparison& comparison, const Ruleset& ruleset,
                        const Naming& naming, std::size_t limit) {
  return Teller(space, comparison, ruleset, naming, limit).tell();
}

}  // namespace bulkhead::compiler::proof
