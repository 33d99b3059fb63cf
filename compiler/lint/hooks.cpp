// Hooks that let pass what nobody decided about.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/lint/passing.h"

namespace bulkhead::compiler::lint {

namespace {

using namespace proof;

// New packets that no rule of these chains decides about: they pass by policy only.
Diagram undecided(Context& context, const std::vector<Index>& chains, Diagram packets) {
  Diagrams& space = context.space;
  for (const Index chain : chains) {
    if (context.ruleset.chains[chain].base->policy_drop)
      return space.nothing();
    const Diagram falls = space.where(context.rules.chain(chain), [&](Terminal t) {
      const Ending& ending = context.endings.at(t);
      return std::all_of(ending.ways.begin(), ending.ways.end(), [](const Way& way) {
        return way.end == End::Continue || way.end == End::Return;
      });
    });
    packets = space.intersect(packets, falls);
  }
  return packets;
}

std::string names_of(const Ruleset& ruleset, const std::vector<Index>& chains) {
  std::vector<std::string> names;
  for (const Index chain : chains)
    names.push_back(chain_name(ruleset, chain));
  return fmt::format("{}", fmt::join(names, ", "));
}

void hook(Context& context, Passage passage, Findings& out) {
  const Hook at = passage == Passage::Forward ? Hook::Forward : Hook::Input;
  const std::string place = fmt::format("the {} hook", to_string(at));
  const auto v4 = filters(context.ruleset, TableFamily::Ip, at);
  const auto v6 = filters(context.ruleset, TableFamily::Ip6, at);
  if (v4.empty() && v6.empty()) {
    add(out, "no-chain", Severity::Warning, place,
        fmt::format(
            "no filter chain is there: everything that {} passes",
            at == Hook::Forward ? "is routed through this machine" : "is sent to this machine"),
        at == Hook::Forward ? "add one with policy drop, or see that the machine does not forward"
                            : "add one with policy drop");
    return;
  }
  const Diagram passes =
      context.space.intersect(at_hook(context, passage).passes, in_state(context, CtState::New));
  std::vector<Index> told;
  for (const Family family : kFamilies) {
    const auto& chains = family == Family::V4 ? v4 : v6;
    if (chains.empty() || chains == told)
      continue;
    const Diagram open =
        undecided(context, chains, context.space.intersect(passes, of_family(context, family)));
    if (open == context.space.nothing())
      continue;
    told = chains;
    add(out, "fails-open", Severity::Warning, names_of(context.ruleset, chains),
        fmt::format("new connections that no rule decides about pass, by policy accept{}",
                    for_example(context, open)),
        "let the policy be drop, or end the chain with a drop");
    out.back().chain = chains.front();
  }
}

// Without neighbour discovery no IPv6 packet finds its way, whatever else is allowed.
void neighbours(Context& context, Findings& out) {
  Diagrams& space = context.space;
  const auto chains = filters(context.ruleset, TableFamily::Ip6, Hook::Input);
  if (chains.empty())
    return;
  constexpr Value kIcmp6 = 58, kNeighbourSolicit = 135;
  // Connection tracking leaves it alone (kernel 6.18: nf_conntrack_icmpv6, noct_valid_new).
  const Diagram asks = space.intersect(
      space.intersect(of_family(context, Family::V6), in_state(context, CtState::Untracked)),
      space.intersect(space.equal(Field::Protocol, kIcmp6),
                      space.intersect(space.equal(Field::HopLimit, 255),
                                      space.equal(Field::SourcePort, kNeighbourSolicit << 8))));
  const HookPackets& input = at_hook(context, Passage::Input);
  const HookPackets& forward = at_hook(context, Passage::Forward);
  const Diagram new_v6 =
      space.intersect(of_family(context, Family::V6), in_state(context, CtState::New));
  const bool serves = space.intersect(new_v6, input.passes) != space.nothing() ||
                      space.intersect(new_v6, forward.passes) != space.nothing();
  if (serves && space.intersect(asks, input.stops) != space.nothing() &&
      space.intersect(asks, input.passes) == space.nothing())
    add(out, "neighbour-discovery", Severity::Error, names_of(context.ruleset, chains),
        "IPv6 neighbour solicitations are dropped: IPv6 goes dead as soon as the neighbours' "
        "tables age",
        "accept icmpv6 types 133-136 with hop limit 255 in input");
}

}  // namespace

void hooks(Context& context, Findings& out) {
  if (context.ruleset.chains.empty()) {
    add(out, "no-chain", Severity::Error, "the ruleset", "it has no chain: everything passes",
        "see whether this is the file, or the machine, that was meant");
    return;
  }
  hook(context, Passage::Forward, out);
  hook(context, Passage::Input, out);
  neighbours(context, out);
}

}  // namespace bulkhead::compiler::lint
