#include "enforcement/ruleset_index.h"

#include <algorithm>
#include <functional>
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

bool is_ours(const std::string& kind, const Json& body) {
  return text_of(body, "family") == "inet" &&
         text_of(body, kind == "table" ? "name" : "table") == "bulkhead";
}

// Every object that can decide a packet, with its kind; none of the trace table.
Status for_each(std::string_view nft_json,
                const std::function<void(const std::string& kind, Json& body)>& visit) {
  Json listing = Json::parse(nft_json, nullptr, false);
  const auto objects = listing.is_object() ? listing.find("nftables") : listing.end();
  if (listing.is_discarded() || objects == listing.end() || !objects->is_array())
    return fail(ErrorKind::Environment,
                "the ruleset listing is not nft's JSON: it cannot be read as \"no rules\"");
  for (auto& object : *objects) {
    if (!object.is_object() || object.size() != 1)
      return fail(ErrorKind::Environment,
                  "the ruleset listing holds something unknown: " + object.dump().substr(0, 200));
    const std::string kind = object.begin().key();
    if (kind != "metainfo" && !is_trace_table(kind, object.begin().value()))
      visit(kind, object.begin().value());
  }
  return {};
}

std::string canonical(const std::string& kind, Json& body) {
  strip_volatile(body);
  sort_elements(body);
  return kind + ' ' + body.dump() + '\n';
}

}  // namespace

Result<RulesetDigests> digest_ruleset(std::string_view nft_json) {
  std::string ours, foreign;
  const Status read = for_each(nft_json, [&](const std::string& kind, Json& body) {
    (is_ours(kind, body) ? ours : foreign) += canonical(kind, body);
  });
  if (!read)
    return fail(read.error());
  return RulesetDigests{ours.empty() ? "" : sha256_hex(ours),
                        foreign.empty() ? "" : sha256_hex(foreign)};
}

Result<RulesetIndex> index_ruleset(std::string_view nft_json) {
  RulesetIndex index;
  std::string all;
  const Status read = for_each(nft_json, [&](const std::string& kind, Json& body) {
    if (kind == "rule")
      remember_comment(index, body);
    all += canonical(kind, body);
  });
  if (!read)
    return fail(read.error());
  index.digest = sha256_hex(all);
  return index;
}

}  // namespace bulkhead::enforcement
