#include "compiler/proof/listed_sets.h"
#include "policy/support/text.h"

namespace bulkhead::compiler::proof {

namespace {

Error odd(std::string message) {
  return {ErrorKind::Environment, "the listing contradicts itself: " + std::move(message)};
}

Index named(std::unordered_map<std::string, Index>& known, std::string_view name, Index next) {
  return known.try_emplace(std::string(name), next).first->second;
}

}  // namespace

Index Names::table(TableFamily family, std::string_view name) const {
  const auto found = tables_.find(std::pair(family, std::string(name)));
  return found == tables_.end() ? kNone : found->second;
}

Status Names::add_table(Table table) {
  const auto index = static_cast<Index>(ruleset_.tables.size());
  if (!tables_.try_emplace({table.family, table.name}, index).second)
    return fail(odd("table " + in_backticks(table.name) + " twice"));
  ruleset_.tables.push_back(std::move(table));
  known_.emplace_back();
  return {};
}

Index Names::chain(Index table, std::string_view name) {
  const auto next = static_cast<Index>(ruleset_.chains.size());
  const Index index = named(known_[table].chains, name, next);
  if (index == next) {
    ruleset_.chains.emplace_back();
    ruleset_.chains.back().name = name;
    ruleset_.chains.back().table = table;
    chain_defined_.push_back(false);
  }
  return index;
}

Index Names::set(Index table, std::string_view name) {
  // Anonymous sets have no place in chain_defined_ and the like: they are always defined.
  set_defined_.resize(ruleset_.sets.size(), true);
  const auto next = static_cast<Index>(ruleset_.sets.size());
  const Index index = named(known_[table].sets, name, next);
  if (index == next) {
    ruleset_.sets.emplace_back();
    ruleset_.sets.back().name = name;
    ruleset_.sets.back().table = table;
    set_defined_.push_back(false);
  }
  return index;
}

Result<Index> Names::define_chain(Index table, std::string_view name) {
  const Index index = chain(table, name);
  if (chain_defined_[index])
    return fail(odd("chain " + in_backticks(name) + " twice" + where(table)));
  chain_defined_[index] = true;
  return index;
}

Result<Index> Names::define_set(Index table, std::string_view name) {
  const Index index = set(table, name);
  if (set_defined_[index])
    return fail(odd("set " + in_backticks(name) + " twice" + where(table)));
  set_defined_[index] = true;
  return index;
}

bool Names::has_set(Index table, std::string_view name) const {
  return known_[table].sets.contains(std::string(name));
}

std::string Names::where(Index table) const {
  return " in table " + std::string(to_string(ruleset_.tables[table].family)) + ' ' +
         in_backticks(ruleset_.tables[table].name);
}

Status Names::check() const {
  for (std::size_t i = 0; i < chain_defined_.size(); ++i)
    if (!chain_defined_[i])
      return fail(odd("chain " + in_backticks(ruleset_.chains[i].name) + " is used, but not there" +
                      where(ruleset_.chains[i].table)));
  for (std::size_t i = 0; i < set_defined_.size(); ++i)
    if (!set_defined_[i])
      return fail(odd("set " + in_backticks(ruleset_.sets[i].name) + " is used, but not there" +
                      where(ruleset_.sets[i].table)));
  return {};
}

}  // namespace bulkhead::compiler::proof
