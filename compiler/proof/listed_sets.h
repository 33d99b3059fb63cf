// Sets and maps of a listing, and the names by which it refers to them and to chains. Part of
// parse_ruleset.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/proof/listed_fields.h"
#include "policy/support/result.h"

namespace bulkhead::compiler::proof {

// Names of one listing -> indices of its ruleset. A chain or a set may be named before it is
// listed (verdict maps come before the chains): it gets its index, and check() says who is missing.
class Names {
 public:
  explicit Names(Ruleset& ruleset) : ruleset_(ruleset) {}
  // kNone where it was not listed before.
  [[nodiscard]] Index table(TableFamily family, std::string_view name) const;
  Status add_table(Table table);
  Index chain(Index table, std::string_view name);
  Index set(Index table, std::string_view name);
  // The index for what is listed now; an error where it was listed before.
  Result<Index> define_chain(Index table, std::string_view name);
  Result<Index> define_set(Index table, std::string_view name);
  [[nodiscard]] bool has_set(Index table, std::string_view name) const;
  // Everything named has been listed.
  [[nodiscard]] Status check() const;

 private:
  struct Known {
    std::unordered_map<std::string, Index> chains, sets;
  };
  std::string where(Index table) const;

  Ruleset& ruleset_;
  std::map<std::pair<TableFamily, std::string>, Index, std::less<>> tables_;
  std::vector<Known> known_;  // by table
  std::vector<bool> chain_defined_, set_defined_;
};

// {"accept": null}, {"jump": {"target": "c"}}; nothing where it is none.
[[nodiscard]] std::optional<Verdict> read_verdict(const Json& json, Index table, Names& names);

struct SetTypes {
  std::vector<ValueType> key;
  std::vector<unsigned> bits;  // of the key's parts; 0: unsaid
  bool is_map = false;
  std::vector<ValueType> data;  // of a map: {Verdict}, values, or empty for objects
  // nft 1.0.6 lists another number than was loaded (`meta length . tcp dport { 40-1500 . 22 }` as
  // `{ 0 . 0 }`): plain integers of the kernel's byte order, in a concatenation without a name.
  bool is_misread = false;
};
[[nodiscard]] SetTypes types_of(const TypedKey& key);

// `elements` is the array of a set ([key, ...]) or of a map ([[key, data], ...]). What cannot be
// read makes the set unmodelled, with the first reason.
void read_elements(const Json& elements, const SetTypes& types, Index table, Names& names,
                   Set& set);

// The entry {"set": ...} or {"map": ...}.
[[nodiscard]] Status read_named_set(const Json& json, bool is_map, Index table, Names& names,
                                    Ruleset& ruleset);

}  // namespace bulkhead::compiler::proof
