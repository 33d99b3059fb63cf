#include "compiler/lint/passing.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/proof/example.h"

namespace bulkhead::compiler::lint {

using namespace proof;

std::vector<Index> filters(const Ruleset& ruleset, TableFamily family, Hook hook) {
  std::vector<Index> out = chains_at(ruleset, family, hook);
  std::erase_if(out, [&](Index chain) {
    return ruleset.table_of(ruleset.chains[chain]).dormant ||
           ruleset.chains[chain].base->type != ChainType::Filter;
  });
  return out;
}

const HookPackets& at_hook(Context& context, Passage passage) {
  if (const auto known = context.at_hook.find(passage); known != context.at_hook.end())
    return known->second;
  Diagrams& space = context.space;
  const Hook hook = passage == Passage::Forward ? Hook::Forward
                    : passage == Passage::Input ? Hook::Input
                                                : Hook::Output;
  const Diagram whole = space.in(Field::Fragment, {{0, 0}, {kDontFragment, kDontFragment}});
  const Diagram here = space.intersect(possible(space, context.ruleset, passage), whole);
  const Diagram does = context.rules.hook(TableFamily::Inet, hook);
  const auto of = [&](std::initializer_list<Outcome> wanted) {
    return space.intersect(here, space.where(does, [&](Terminal t) {
      const Outcome outcome = outcome_of(context.endings.at(t));
      return std::find(wanted.begin(), wanted.end(), outcome) != wanted.end();
    }));
  };
  const HookPackets found{of({Outcome::Accept}), of({Outcome::Drop, Outcome::Reject})};
  return context.at_hook.emplace(passage, found).first->second;
}

Diagram in_state(Context& context, CtState state) {
  return context.space.equal(Field::CtState, static_cast<Value>(state));
}

Diagram of_family(Context& context, Family family) {
  return context.space.equal(Field::Family, family == Family::V4 ? kIpv4 : kIpv6);
}

std::string for_example(Context& context, Diagram set) {
  const auto example = example_of(context.space, set);
  return example ? fmt::format(" (for example {})", to_string(*example)) : "";
}

}  // namespace bulkhead::compiler::lint
