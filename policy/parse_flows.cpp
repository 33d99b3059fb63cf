// Who may reach whom: flows, offers, nevers, and the selectors that they share.
#include <algorithm>

#include <fmt/format.h>

#include "policy/identifier.h"
#include "policy/parse_parts.h"
#include "policy/support/text.h"

namespace bulkhead::policy {

namespace {

using What = Selector::What;

struct Prefixed {
  std::string_view prefix;
  What what;
};
constexpr Prefixed kPrefixed[] = {
    {"tenant:", What::Tenant}, {"enforcer:", What::Enforcer}, {"external:", What::External}};

// The ids that bulkhead itself writes where a flow's id would stand.
constexpr std::string_view kOwnIds[] = {"default", "inside",  "spoofed", "unbound", "pair",
                                        "reply",   "related", "link",    "roce"};

bool is_id_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '_' || c == '-' || c == '/' || c == ':';
}

// An empty list is nobody, never everybody; written by hand or by a generator it deserves a word.
void warn_if_empty(TomlTable& table, std::string_view key, bool empty, std::string_view meaning,
                   Diagnostics& diagnostics) {
  if (empty && table.is_empty_array(key))
    diagnostics.warning("empty-list", table.at(key),
                        fmt::format("`{}` of {} is empty: {}", key, table.what(), meaning));
}

std::vector<Selector> read_side(TomlTable& table, std::string_view key, const ParsedFile& into) {
  if (!table.require(key))
    return {};
  auto selectors = parse_selectors(table.names(key), into.diagnostics);
  warn_if_empty(table, key, selectors.empty(), "that is nobody", into.diagnostics);
  return selectors;
}

std::vector<Name> read_services(TomlTable& table, const ParsedFile& into) {
  if (!table.require("services"))
    return {};
  auto services = table.names("services");
  warn_if_empty(table, "services", services.empty(), "that is nothing", into.diagnostics);
  return services;
}

// Reads `id` first, so that every later message can name the flow.
std::string read_id(TomlTable& table, std::string_view kind, const ParsedFile& into) {
  if (!table.require("id"))
    return {};
  const auto id = table.name("id");
  if (!id || !check_id(*id, into.diagnostics))
    return {};
  table.call_it(fmt::format("{} {}", kind, in_backticks(id->text)));
  return id->text;
}

Action read_action(TomlTable& table, const ParsedFile& into) {
  const auto action = table.name("action");
  if (!action || action->text == "allow")
    return Action::Allow;
  if (action->text == "deny")
    return Action::Deny;
  const std::string_view meant = closest(action->text, {"allow", "deny"});
  into.diagnostics.error(
      "bad-value", action->at,
      fmt::format("`action` must be \"allow\" or \"deny\", not {}", in_backticks(action->text)),
      did_you_mean(action->text, {"allow", "deny"}));
  return meant == "deny" ? Action::Deny : Action::Allow;
}

}  // namespace

bool check_id(const Name& id, Diagnostics& diagnostics) {
  constexpr std::size_t kLongest = 48;  // several share one nft comment of 128 bytes
  if (id.text.empty() || id.text.size() > kLongest ||
      !std::all_of(id.text.begin(), id.text.end(), is_id_char)) {
    diagnostics.error("bad-id", id.at, fmt::format("{} is not an id", in_backticks(id.text)),
                      fmt::format("letters, digits and . _ - / :, at most {}", kLongest));
    return false;
  }
  if (is_reserved_name(id.text) ||
      std::find(std::begin(kOwnIds), std::end(kOwnIds), id.text) != std::end(kOwnIds)) {
    diagnostics.error(
        "reserved-name", id.at,
        fmt::format("{} is a word of the language, not an id", in_backticks(id.text)));
    return false;
  }
  return true;
}

std::optional<Selector> parse_selector(const Name& text, Diagnostics& diagnostics) {
  Selector selector;
  selector.at = text.at;
  const std::string_view written = text.text;
  if (written == "any") {
    selector.what = What::Any;
    return selector;
  }
  if (written == "tenant:*") {
    selector.what = What::AnyTenant;
    return selector;
  }
  for (const auto& [prefix, what] : kPrefixed) {
    if (!written.starts_with(prefix))
      continue;
    selector.what = what;
    selector.name = written.substr(prefix.size());
    if (is_good_name(selector.name))
      return selector;
  }
  if (written.find(':') == std::string_view::npos) {
    const std::size_t dot = written.find('.');
    selector.what = What::Unresolved;
    selector.name = written.substr(0, dot);
    selector.label = dot == std::string_view::npos ? "" : written.substr(dot + 1);
    const bool good = is_good_name(selector.name) &&
                      (dot == std::string_view::npos || is_good_name(selector.label));
    if (good && !is_reserved_name(selector.name))
      return selector;
  }
  // "tennant:red": the kind is misspelt, not the name.
  std::vector<std::string_view> kinds;
  for (const auto& [prefix, what] : kPrefixed)
    kinds.push_back(prefix.substr(0, prefix.size() - 1));
  const std::string_view kind = written.find(':') == std::string_view::npos
                                    ? std::string_view()
                                    : closest(written.substr(0, written.find(':')), kinds);
  if (!kind.empty()) {
    diagnostics.error("bad-selector", text.at,
                      fmt::format("{} names nobody", in_backticks(written)),
                      fmt::format("did you mean `{}{}`?", kind, written.substr(written.find(':'))));
    return std::nullopt;
  }
  const bool everybody = written == "*" || is_reserved_name(written.substr(0, written.find('.')));
  diagnostics.error("bad-selector", text.at, fmt::format("{} names nobody", in_backticks(written)),
                    everybody ? "everybody is `any`, by that word alone"
                              : "write SEGMENT, SEGMENT.LABEL, PARTITION, PARTITION.LABEL, "
                                "tenant:NAME, tenant:*, enforcer:NAME, external:NAME or any");
  return std::nullopt;
}

std::vector<Selector> parse_selectors(const std::vector<Name>& texts, Diagnostics& diagnostics) {
  std::vector<Selector> out;
  for (const Name& text : texts) {
    if (auto selector = parse_selector(text, diagnostics))
      out.push_back(std::move(*selector));
  }
  return out;
}

std::string Selector::str() const {
  switch (what) {
    case What::Any:
      return "any";
    case What::AnyTenant:
      return "tenant:*";
    case What::Tenant:
      return "tenant:" + name;
    case What::Enforcer:
      return "enforcer:" + name;
    case What::External:
      return "external:" + name;
    case What::Segment:
    case What::Partition:
    case What::Unresolved:
      break;
  }
  return label.empty() ? name : name + "." + label;
}

void parse_flows(TomlTable& root, const ParsedFile& into) {
  std::vector<TomlTable> tables = root.tables("flow");
  into.policy.flows.reserve(into.policy.flows.size() + tables.size());
  for (TomlTable& table : tables) {
    Flow flow;
    flow.at = table.at();
    flow.id = read_id(table, "flow", into);
    flow.from = read_side(table, "from", into);
    flow.to = read_side(table, "to", into);
    flow.services = read_services(table, into);
    flow.action = read_action(table, into);
    flow.both_ways = table.boolean("both_ways").value_or(false);
    flow.why = table.text("why");
    flow.owner = table.text("owner");
    flow.ticket = table.text("ticket");
    flow.expires = table.date("expires");
    flow.expires_at = table.at("expires");
    flow.authority = into.authority;
    table.finish();
    into.policy.flows.push_back(std::move(flow));
  }
}

void parse_offers(TomlTable& root, const ParsedFile& into) {
  for (TomlTable& table : root.tables("offer")) {
    Offer offer;
    offer.at = table.at();
    offer.from = read_side(table, "from", into);
    offer.to = read_side(table, "to", into);
    offer.services = read_services(table, into);
    offer.authority = into.authority;
    table.finish();
    into.policy.offers.push_back(std::move(offer));
  }
}

void parse_nevers(TomlTable& root, const ParsedFile& into) {
  for (TomlTable& table : root.tables("never")) {
    Never never;
    never.at = table.at();
    never.id = read_id(table, "never", into);
    never.from = read_side(table, "from", into);
    never.to = read_side(table, "to", into);
    never.services = table.names("services");
    // Without the key a never is about every service; a list that came out empty would silently
    // mean the same, or nothing.
    if (table.is_empty_array("services"))
      into.diagnostics.error("empty-list", table.at("services"),
                             fmt::format("`services` of {} is empty", table.what()),
                             "leave the key out for every service");
    for (const Name& text : table.names("except")) {
      if (text.text == "same-tenant") {
        never.except.push_back({true, {}});
      } else if (auto selector = parse_selector(text, into.diagnostics)) {
        never.except.push_back({false, std::move(*selector)});
      }
    }
    never.why = table.text("why");
    table.finish();
    into.policy.nevers.push_back(std::move(never));
  }
}

}  // namespace bulkhead::policy
