// Base chains put together: priorities, connection tracking and translation between them.
#include <algorithm>

#include "compiler/proof/priorities.h"
#include "compiler/proof/reading.h"
#include "compiler/proof/symbolic.h"

namespace bulkhead::compiler::proof {

namespace {

constexpr Value kInvalid = static_cast<Value>(CtState::Invalid);

bool is_translated(const Way& way) {
  return std::any_of(way.changes.begin(), way.changes.end(),
                     [](const Change& c) { return c.field == Field::CtReplySource4; });
}

}  // namespace

// Ends as End::Drop, Reject, Queue or Continue; a translated packet as Return, where `nat`.
Diagram Symbolic::base_rules(Index index) {
  const BaseChain& base = *ruleset_.chains[index].base;
  const bool is_nat = base.type == ChainType::Nat;
  const End policy = base.policy_drop ? End::Drop : End::Continue;
  Diagram f = space_.relabel(chain(index), [&](Terminal t) {
    Ending ending = endings_.at(t);
    for (Way& way : ending.ways) {
      if (way.end == End::Accept)
        way.end = is_nat && is_translated(way) ? End::Return : End::Continue;
      else if (way.end == End::Continue || way.end == End::Return) {
        way.end = policy;
        if (attribution_ == Attribution::Rules)
          way.by = RuleRef{index, kNone};
      }
    }
    return endings_.number(std::move(ending));
  });
  const Diagram passed = of(End::Continue);
  if (is_nat)
    f = space_.if_then_else(space_.equal(Field::CtState, static_cast<Value>(CtState::New)), f,
                            passed);
  at_ = {index, kNone};
  if (base.hook == Hook::Ingress || base.hook == Hook::Egress) {
    std::vector<ValueRange> devices;
    for (const std::string& device : base.devices)
      devices.push_back({interface_name(device), interface_name(device)});
    const Field side = base.hook == Hook::Ingress ? Field::InInterface : Field::OutInterface;
    f = devices.empty() ? either(f, passed, true)
                        : space_.if_then_else(space_.in(side, devices), f, passed);
  }
  const Table& table = ruleset_.table_of(ruleset_.chains[index]);
  if (table.dormant)
    return passed;
  return table.maybe_dormant ? either(f, passed, true) : f;
}

Diagram Symbolic::base_chain(Index index) {
  return renamed(base_rules(index), End::Return, End::Continue);
}

// Only one of them translates.
Diagram Symbolic::nat_chains(std::span<const Index> chains) {
  Diagram all = of(End::Continue);
  for (const Index chain : chains)
    all = then(all, base_rules(chain));
  return renamed(all, End::Return, End::Continue);
}

// Packets of a connection that was translated by its first one.
Diagram Symbolic::translated_before(Hook hook) {
  const bool is_source = hook == Hook::Postrouting || hook == Hook::Input;
  const Changes moved =
      is_source ? Changes{change(Field::Source4, {}), change(Field::Source6, {}),
                          change(Field::SourcePort, {})}
                : Changes{change(Field::Destination4, {}), change(Field::Destination6, {}),
                          change(Field::DestinationPort, {})};
  const Diagram untouched = space_.masked(space_.equal(Field::CtStatus, 0), Field::CtStatus,
                                          kStatusSnat | kStatusDnat, 0);
  Operand status;
  status.selector = Selector::CtStatus;
  return space_.if_then_else(space_.subtract(proof::readable(space_, status), untouched),
                             space_.constant(endings_.number({{{End::Continue, moved}}, {}})),
                             of(End::Continue));
}

// No state is seen, and what `notrack` made of that is kept.
Diagram Symbolic::before_conntrack(Diagram f) {
  const Diagram blind = changed({change(Field::CtState, kInvalid)}, f);
  return space_.relabel(blind, [&](Terminal t) {
    Ending ending = endings_.at(t);
    for (Way& way : ending.ways)
      std::erase_if(way.changes, [](const Change& c) {
        return c.field == Field::CtState && c.value == kInvalid;
      });
    return endings_.number(std::move(ending));
  });
}

Diagram Symbolic::at_hook(TableFamily family, Hook hook) {
  const auto chains = chains_at(ruleset_, family, hook);
  const bool starts = hook == Hook::Prerouting || hook == Hook::Output;
  const auto priority = [&](Index chain) {
    return effective_priority(*ruleset_.chains[chain].base);
  };
  const bool translates = std::any_of(
      ruleset_.chains.begin(), ruleset_.chains.end(),
      [](const Chain& chain) { return chain.base && chain.base->type == ChainType::Nat; });
  const std::int32_t translation = hook == Hook::Postrouting || hook == Hook::Input ? 100 : -100;
  bool translated =
      !translates || hook == Hook::Ingress || hook == Hook::Egress || hook == Hook::Forward;
  Diagram blind = of(End::Continue);
  Diagram all = of(End::Continue);
  for (std::size_t i = 0; i < chains.size();) {
    std::size_t behind = i + 1;
    if (ruleset_.chains[chains[i]].base->type == ChainType::Nat)
      while (behind < chains.size() && ruleset_.chains[chains[behind]].base->type == ChainType::Nat)
        ++behind;
    const Diagram here = nat_chains(std::span(chains).subspan(i, behind - i));
    if (hook == Hook::Ingress || (starts && priority(chains[i]) < kConntrack)) {
      blind = then(blind, here);
    } else {
      if (!translated && priority(chains[i]) >= translation) {
        all = then(all, translated_before(hook));
        translated = true;
      }
      all = then(all, here);
    }
    i = behind;
  }
  if (!translated)
    all = then(all, translated_before(hook));
  all = then(before_conntrack(blind), all);
  // Devices that the kernel does not give to chains here.
  if (hook == Hook::Output)
    return space_.fix(all, Field::InInterface, 0);
  if (hook == Hook::Ingress || hook == Hook::Prerouting || hook == Hook::Input)
    return space_.fix(all, Field::OutInterface, 0);
  return all;
}

Diagram Symbolic::hook(TableFamily family, Hook hook) {
  Station station{family, hook};
  return way(std::span(&station, 1));
}

Diagram Symbolic::way(std::span<const Station> stations) {
  Diagram all = of(End::Continue);
  for (const Station& station : stations) {
    if (station.family == TableFamily::Inet) {
      const Diagram v4 = space_.fix(at_hook(TableFamily::Ip, station.hook), Field::Family, kIpv4);
      const Diagram v6 = space_.fix(at_hook(TableFamily::Ip6, station.hook), Field::Family, kIpv6);
      all = then(all, space_.branch(Field::Family, {{{kIpv4, kIpv4}, v4}, {{kIpv6, kIpv6}, v6}},
                                    of(End::Continue)));
      continue;
    }
    Diagram here = at_hook(station.family, station.hook);
    if (station.family == TableFamily::Ip || station.family == TableFamily::Ip6 ||
        station.family == TableFamily::Arp) {
      const Value value = station.family == TableFamily::Ip    ? kIpv4
                          : station.family == TableFamily::Ip6 ? kIpv6
                                                               : kArp;
      here =
          space_.branch(Field::Family, {{{value, value}, space_.fix(here, Field::Family, value)}},
                        of(End::Continue));
    }
    all = then(all, here);
  }
  all = renamed(all, End::Continue, End::Accept);
  // Packets of an offloaded connection pass all this by.
  const bool forwards = std::any_of(stations.begin(), stations.end(), [](const Station& station) {
    return station.hook == Hook::Forward;
  });
  const auto offloads = [](const Rule& rule) {
    return std::any_of(rule.statements.begin(), rule.statements.end(), [](const Statement& what) {
      return std::holds_alternative<FlowOffload>(what);
    });
  };
  if (forwards &&
      std::any_of(ruleset_.chains.begin(), ruleset_.chains.end(), [&](const Chain& chain) {
        return std::any_of(chain.rules.begin(), chain.rules.end(), offloads);
      }))
    all =
        space_.if_then_else(space_.equal(Field::CtState, static_cast<Value>(CtState::Established)),
                            either(all, of(End::Accept), false), all);
  return all;
}

std::vector<std::pair<Index, Index>> Symbolic::ambiguous_order(TableFamily family, Hook hook) {
  std::vector<std::pair<Index, Index>> out;
  const auto chains = chains_at(ruleset_, family, hook);
  const auto order = [&](Index chain) {
    const BaseChain& base = *ruleset_.chains[chain].base;
    return std::pair(effective_priority(base), base.priority);
  };
  for (std::size_t i = 0; i < chains.size(); ++i)
    for (std::size_t j = i + 1; j < chains.size() && order(chains[j]) == order(chains[i]); ++j) {
      const Diagram a = base_chain(chains[i]), b = base_chain(chains[j]);
      if (then(a, b) != then(b, a))
        out.emplace_back(chains[i], chains[j]);
    }
  return out;
}

}  // namespace bulkhead::compiler::proof
