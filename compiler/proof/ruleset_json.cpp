#include "compiler/proof/ruleset_json.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "compiler/proof/json_tree.h"
#include "compiler/proof/jumps.h"
#include "compiler/proof/late_link.h"
#include "compiler/proof/listed_rule.h"
#include "compiler/proof/listed_sets.h"
#include "compiler/proof/written_text.h"
#include "policy/support/text.h"

namespace bulkhead::compiler::proof {

namespace {

constexpr std::uint64_t kSchema = 1;

tl::unexpected<Error> bad(std::string message) {
  return fail(ErrorKind::Environment, "the listing: " + std::move(message));
}

template <class Enum>
struct Word {
  std::string_view text;
  Enum value;
};

constexpr std::array kFamilies = std::to_array<Word<TableFamily>>({
    {"ip", TableFamily::Ip},
    {"ip6", TableFamily::Ip6},
    {"inet", TableFamily::Inet},
    {"bridge", TableFamily::Bridge},
    {"netdev", TableFamily::Netdev},
    {"arp", TableFamily::Arp},
});
constexpr std::array kHooks = std::to_array<Word<Hook>>({
    {"ingress", Hook::Ingress},
    {"prerouting", Hook::Prerouting},
    {"input", Hook::Input},
    {"forward", Hook::Forward},
    {"output", Hook::Output},
    {"postrouting", Hook::Postrouting},
    {"egress", Hook::Egress},
});
constexpr std::array kTypes = std::to_array<Word<ChainType>>({
    {"filter", ChainType::Filter},
    {"nat", ChainType::Nat},
    {"route", ChainType::Route},
});

template <class Enum, std::size_t N>
std::optional<Enum> value_of(const std::array<Word<Enum>, N>& words, std::string_view text) {
  for (const auto& word : words)
    if (word.text == text)
      return word.value;
  return std::nullopt;
}

class Listing {
 public:
  Listing() : names_(ruleset_) {}

  Status entry(const Json& json) {
    const Json* body = json.is_object() ? json.first : nullptr;
    if (body == nullptr || json.size != 1 || !body->is_object())
      return bad("an entry that is no object of one member");
    struct Kind {
      std::string_view name;
      Status (Listing::*read)(const Json&, Index);
    };
    static constexpr std::array kInTables = std::to_array<Kind>({
        {"chain", &Listing::chain},
        {"set", &Listing::named_set<false>},
        {"map", &Listing::named_set<true>},
        {"rule", &Listing::rule},
        {"counter", &Listing::counter},
    });
    if (body->name == "metainfo")
      return metainfo(*body);
    if (body->name == "table")
      return table(*body);
    for (const Kind& kind : kInTables) {
      if (kind.name != body->name)
        continue;
      const auto in = table_of(*body);
      return in ? (this->*kind.read)(*body, *in) : fail(in.error());
    }
    // Quotas, limits, helpers, flow tables: they act through the statements that name them.
    return {};
  }

  Result<Ruleset> finish() && {
    if (!saw_metainfo_)
      return bad("no `metainfo`: this is not what nft lists");
    if (const Status known = names_.check(); !known)
      return fail(known.error());
    if (const Status jumps = check_jumps(ruleset_); !jumps)
      return fail(jumps.error());
    mark_late_link(ruleset_);
    return std::move(ruleset_);
  }

 private:
  Status metainfo(const Json& json) {
    saw_metainfo_ = true;
    const Json* schema = json.find("json_schema_version");
    if (schema != nullptr && schema->integer != kSchema)
      return bad("JSON schema " + std::to_string(schema->integer) + "; this reads schema 1");
    return {};
  }

  Status table(const Json& json) {
    const auto family = value_of(kFamilies, json.text_of("family"));
    const std::string_view name = json.text_of("name");
    if (!family || name.empty())
      return bad("a table without a family or a name");
    Table table{*family, std::string(name), false, false};
    if (const Json* flags = json.find("flags")) {
      // A list is from a newer nft, which knows what it says.
      if (flags->is_array()) {
        for (const Json* flag = flags->first; flag != nullptr; flag = flag->next)
          table.dormant |= flag->text == "dormant";
      } else {
        table.dormant = flags->text == "dormant";
        table.maybe_dormant = !table.dormant && flags->text != "owner";
      }
    }
    return names_.add_table(std::move(table));
  }

  Result<Index> table_of(const Json& json) const {
    const auto family = value_of(kFamilies, json.text_of("family"));
    const std::string_view name = json.text_of("table");
    const Index index = family ? names_.table(*family, name) : kNone;
    if (index == kNone)
      return bad("a " + std::string(json.name) + " in table " + in_backticks(name) +
                 ", which is not listed before it");
    return index;
  }

  Status chain(const Json& json, Index table) {
    const std::string_view name = json.text_of("name");
    const auto index = names_.define_chain(table, name);
    if (!index)
      return fail(index.error());
    Chain& chain = ruleset_.chains[*index];
    if (const Json* handle = json.find("handle"))
      chain.handle = handle->integer;
    if (json.find("hook") == nullptr)
      return {};
    BaseChain base;
    const auto hook = value_of(kHooks, json.text_of("hook"));
    const auto type = value_of(kTypes, json.text_of("type"));
    const Json* priority = json.find("prio");
    if (!hook || !type || priority == nullptr || priority->kind != Json::Kind::Integer ||
        priority->integer > std::numeric_limits<std::int32_t>::max())
      return bad("base chain " + in_backticks(name) + " without a known hook, type and priority");
    base.hook = *hook;
    base.type = *type;
    base.priority = static_cast<std::int32_t>(priority->integer);
    if (priority->negative)
      base.priority = -base.priority;
    const std::string_view policy = json.text_of("policy");
    if (!policy.empty() && policy != "accept" && policy != "drop")
      return bad("chain " + in_backticks(name) + " has the unknown policy " + in_backticks(policy));
    base.policy_drop = policy == "drop";
    if (const Json* device = json.find("dev")) {
      if (device->is_text())
        base.devices.emplace_back(device->text);
      for (const Json* item = device->first; item != nullptr; item = item->next)
        base.devices.emplace_back(item->text);
    }
    chain.base = std::move(base);
    return {};
  }

  template <bool is_map>
  Status named_set(const Json& json, Index table) {
    return read_named_set(json, is_map, table, names_, ruleset_);
  }

  Status rule(const Json& json, Index table) {
    const std::string_view name = json.text_of("chain");
    if (name.empty())
      return bad("a rule without its chain");
    // Before the rule is read: it may name further chains.
    const Index chain = names_.chain(table, name);
    Rule read = read_rule(json, table, names_, ruleset_);
    ruleset_.chains[chain].rules.push_back(std::move(read));
    return {};
  }

  Status counter(const Json& json, Index table) {
    ruleset_.counters.push_back(
        {table, std::string(json.text_of("name")), std::string(json.text_of("comment"))});
    return {};
  }

  Ruleset ruleset_;
  Names names_;
  bool saw_metainfo_ = false;
};

Result<Ruleset> parse(Status (*entries)(std::string_view,
                                        const std::function<Status(const Json&)>&),
                      std::string_view text) {
  Listing listing;
  const Status read = entries(text, [&](const Json& entry) { return listing.entry(entry); });
  if (!read)
    return fail(read.error());
  return std::move(listing).finish();
}

}  // namespace

Result<Ruleset> parse_ruleset(std::string_view json) {
  return parse(read_listing, json);
}

Result<Ruleset> parse_written_ruleset(std::string_view nft_text) {
  return parse(read_written, nft_text);
}

void add_dormant_tables(Ruleset& ruleset, std::span<const std::string> names) {
  for (const std::string& name : names) {
    const std::size_t space = name.find(' ');
    const auto family = value_of(kFamilies, std::string_view(name).substr(0, space));
    if (family && space != std::string::npos)
      ruleset.tables.push_back({*family, name.substr(space + 1), false, true});
  }
}

}  // namespace bulkhead::compiler::proof
