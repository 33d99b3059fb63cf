#include "enforcement/ruleset_index.h"

#include <nlohmann/json.hpp>

#include "enforcement/trace_table.h"
#include "policy/support/sha256.h"

namespace bulkhead::enforcement {

namespace {

using Json = nlohmann::json;

// What changes by itself (counters, timeouts running down) or tells only when a thing was made
// (handles) decides no packet.
void strip_volatile(Json& value) {
  if (value.is_array()) {
    for (auto& item : value)
      strip_volatile(item);
    return;
  }
  if (!value.is_object())
    return;
  for (const char* key : {"handle", "index", "packets", "bytes", "expires", "used"})
    value.erase(key);
  for (auto& item : value.items())
    strip_volatile(item.value());
}

// nft lists the elements of a hash set in the order of its buckets, which differs from one load to
// the next.
void sort_elements(Json& set) {
  const auto elements = set.find("elem");
  if (elements != set.end() && elements->is_array())
    std::sort(elements->begin(), elements->end());
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_trace_table(const std::string& kind, const Json& body) {
  return text_of(body, "family") == "inet" &&
         text_of(body, kind == "table" ? "name" : "table") == kTraceTable;
}

void remember_comment(RulesetIndex& index, const Json& rule) {
  const auto handle = rule.find("handle");
  const std::string comment = text_of(rule, "comment");
  if (comment.empty() || handle == rule.end() || !handle->is_number_unsigned())
    return;
  index.comments[{text_of(rule, "family") + " " + text_of(rule, "table"), text_of(rule, "chain"),
                  handle->get<std::uint64_t>()}] = comment;
}

}  // namespace

Result<RulesetIndex> index_ruleset(std::string_view nft_json) {
  const Json listing = Json::parse(nft_json, nullptr, false);
  const auto objects = listing.is_object() ? listing.find("nftables") : listing.end();
  if (listing.is_discarded() || objects == listing.end() || !objects->is_array())
    return fail(ErrorKind::Environment,
                "the ruleset listing is not nft's JSON: it cannot be read as \"no rules\"");
  RulesetIndex index;
  std::string canonical;
  for (const auto& object : *objects) {
    if (!object.is_object() || object.size() != 1)
      return fail(ErrorKind::Environment,
                  "the ruleset listing holds something unknown: " + object.dump().substr(0, 200));
    const std::string kind = object.begin().key();
    Json body = object.begin().value();
    if (kind == "metainfo" || is_trace_table(kind, body))
      continue;
    if (kind == "rule")
      remember_comment(index, body);
    strip_volatile(body);
    sort_elements(body);
    canonical += kind + ' ' + body.dump() + '\n';
  }
  index.digest = sha256_hex(canonical);
  return index;
}

}  // namespace bulkhead::enforcement
