#include "compiler/proof/round_trip.h"

#include <fmt/format.h>

#include "compiler/proof/ruleset_json.h"
#include "compiler/proof/same_rules.h"

namespace bulkhead::compiler::proof {

namespace {

constexpr auto kFamily = TableFamily::Inet;
constexpr std::string_view kTable = "bulkhead";

}  // namespace

Result<RoundTrip> round_trip(const Site& site, const EnforcerView& view, const std::string& written,
                             const Ruleset& listed, const ProofLimits& limits) {
  const auto read = parse_written_ruleset(written);
  if (!read)
    return fail(read.error().context("the compiled ruleset"));
  RoundTrip out;
  out.proof = prove_enforcer(site, view, listed, limits);
  if (!has_table(listed, kFamily, kTable))
    return out;
  try {
    out.table = are_same(table_alone(listed, kFamily, kTable), *read, limits.budget)
                    ? RoundTrip::Table::Same
                    : RoundTrip::Table::Differs;
  } catch (const OutOfBudget& error) {
    out.proof.not_proven =
        fmt::format("too large to compare with what was compiled: {}", error.what());
    out.table = RoundTrip::Table::NotLoaded;
  }
  return out;
}

}  // namespace bulkhead::compiler::proof
