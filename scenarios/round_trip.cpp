#include "scenarios/round_trip.h"

#include <fmt/format.h>

#include "compiler/proof/ruleset_json.h"
#include "compiler/proof/same_rules.h"

namespace bulkhead::scenarios {

namespace proof = compiler::proof;

namespace {

constexpr auto kFamily = proof::TableFamily::Inet;
constexpr std::string_view kTable = "bulkhead";

}  // namespace

Result<RoundTrip> round_trip(const compiler::Site& site, const compiler::EnforcerView& view,
                             const std::string& written, const Listing& listing,
                             const proof::ProofLimits& limits) {
  const auto listed = ruleset_of(listing);
  if (!listed)
    return fail(listed.error());
  const auto read = proof::parse_written_ruleset(written);
  if (!read)
    return fail(read.error().context("the compiled ruleset"));
  RoundTrip out;
  out.proof = proof::prove_enforcer(site, view, *listed, limits);
  out.proof.rules = listing.rules;
  out.proof.listing_alone = listing.loads.empty();
  if (!proof::has_table(*listed, kFamily, kTable))
    return out;
  try {
    out.table = proof::are_same(proof::table_alone(*listed, kFamily, kTable), *read, limits.budget)
                    ? RoundTrip::Table::Same
                    : RoundTrip::Table::Differs;
  } catch (const proof::OutOfBudget& error) {
    out.proof.not_proven =
        fmt::format("too large to compare with what was compiled: {}", error.what());
    out.table = RoundTrip::Table::NotLoaded;
  }
  return out;
}

}  // namespace bulkhead::scenarios
