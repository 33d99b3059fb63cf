#include "compiler/proof/replaced.h"

#include <type_traits>

namespace bulkhead::compiler::proof {

namespace {

// Indices of one ruleset as those of another, behind what that one has.
class Renumbering {
 public:
  explicit Renumbering(const Ruleset& into)
      : tables_(static_cast<Index>(into.tables.size())),
        chains_(static_cast<Index>(into.chains.size())),
        sets_(static_cast<Index>(into.sets.size())) {}

  void table(Index& index) const { move(index, tables_); }
  void set(Index& index) const { move(index, sets_); }
  void verdict(Verdict& verdict) const { move(verdict.chain, chains_); }

  void statement(Statement& statement) const {
    std::visit(
        [&](auto& one) {
          using T = std::decay_t<decltype(one)>;
          if constexpr (std::is_same_v<T, Match> || std::is_same_v<T, VerdictMap> ||
                        std::is_same_v<T, UpdateSet>)
            set(one.set);
          else if constexpr (std::is_same_v<T, Decide>)
            verdict(one.verdict);
          else if constexpr (std::is_same_v<T, Assign>)
            source(one.value);
          else if constexpr (std::is_same_v<T, Nat>)
            for (auto* part : {&one.address, &one.port})
              if (part->has_value())
                source(**part);
        },
        statement);
  }

 private:
  static void move(Index& index, Index by) {
    if (index != kNone)
      index += by;
  }
  void source(Source& source) const {
    if (auto* const lookup = std::get_if<Lookup>(&source))
      set(lookup->set);
  }

  Index tables_, chains_, sets_;
};

}  // namespace

Ruleset replaced(Ruleset live, TableFamily family, std::string_view name, const Ruleset& fresh) {
  for (Chain& chain : live.chains) {
    const Table& table = live.table_of(chain);
    if (table.family == family && table.name == name)
      chain.base.reset();
  }
  const Renumbering renumber(live);
  live.tables.insert(live.tables.end(), fresh.tables.begin(), fresh.tables.end());
  for (Set set : fresh.sets) {
    renumber.table(set.table);
    for (Element& element : set.elements)
      if (auto* const verdict = std::get_if<Verdict>(&element.data))
        renumber.verdict(*verdict);
    live.sets.push_back(std::move(set));
  }
  for (Chain chain : fresh.chains) {
    renumber.table(chain.table);
    for (Rule& rule : chain.rules)
      for (Statement& statement : rule.statements)
        renumber.statement(statement);
    live.chains.push_back(std::move(chain));
  }
  for (NamedCounter counter : fresh.counters) {
    renumber.table(counter.table);
    live.counters.push_back(std::move(counter));
  }
  return live;
}

}  // namespace bulkhead::compiler::proof
