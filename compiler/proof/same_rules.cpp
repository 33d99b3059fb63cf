#include "compiler/proof/same_rules.h"

#include <algorithm>
#include <map>

#include "compiler/proof/prove.h"

namespace bulkhead::compiler::proof {

namespace {

// Which rule made a change is not what it does: the same rule has another number in another
// listing.
std::vector<Way> without_rules(std::vector<Way> ways) {
  for (Way& way : ways) {
    way.by.reset();
    for (Change& change : way.changes)
      change.by = {};
  }
  std::sort(ways.begin(), ways.end());
  return ways;
}

class Numbers {
 public:
  explicit Numbers(const Endings& endings) : endings_(endings) {}
  Terminal operator()(Terminal terminal) {
    const Ending& ending = endings_.at(terminal);
    knows_all_ = knows_all_ && ending.unknown.empty();
    return numbers_.try_emplace(without_rules(ending.ways), static_cast<Terminal>(numbers_.size()))
        .first->second;
  }
  [[nodiscard]] bool knows_all() const { return knows_all_; }

 private:
  const Endings& endings_;
  std::map<std::vector<Way>, Terminal> numbers_;
  bool knows_all_ = true;
};

}  // namespace

bool are_same(const Ruleset& a, const Ruleset& b, const Budget& budget) {
  Diagrams space(budget);
  Endings endings;
  Symbolic rules_a(space, endings, a), rules_b(space, endings, b);
  for (const Passage passage : kPassages) {
    const Diagram does_a = doing(rules_a, passage), does_b = doing(rules_b, passage);
    Numbers numbers(endings);
    const auto number = [&](Terminal terminal) { return numbers(terminal); };
    const Remembered as = space.remember();
    if (space.relabel(does_a, number, as) != space.relabel(does_b, number, as) ||
        !numbers.knows_all())
      return false;
  }
  return true;
}

bool has_table(const Ruleset& ruleset, TableFamily family, std::string_view name) {
  return std::any_of(ruleset.tables.begin(), ruleset.tables.end(), [&](const Table& table) {
    return table.family == family && table.name == name;
  });
}

Ruleset table_alone(Ruleset ruleset, TableFamily family, std::string_view name) {
  for (Chain& chain : ruleset.chains) {
    const Table& table = ruleset.table_of(chain);
    if (table.family != family || table.name != name)
      chain.base.reset();
  }
  return ruleset;
}

}  // namespace bulkhead::compiler::proof
