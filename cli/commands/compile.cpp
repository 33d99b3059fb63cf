#include "compiler/compile.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/commands/verbs.h"
#include "cli/report/proof.h"
#include "cli/support/answer.h"
#include "cli/support/exit_code.h"
#include "cli/support/files.h"
#include "cli/support/site_argument.h"
#include "compiler/proof/round_trip.h"
#include "compiler/proof/written_proof.h"
#include "policy/support/sha256.h"
#include "scenarios/listing.h"

namespace bulkhead::cli {
namespace {

namespace proof = compiler::proof;

// The kernel's reading of each ruleset, the rules of others beside it included.
Result<std::vector<proof::EnforcerProof>> through_the_kernel(const compiler::Site& site,
                                                             const compiler::Artifacts& artifacts) {
  std::vector<proof::EnforcerProof> out;
  for (const compiler::EnforcerView& view : site.coverage.views) {
    const std::string& text = compiler::ruleset_text(artifacts, view.enforcer);
    const auto listing = scenarios::list_with_foreign(site, view, text);
    if (!listing)
      return fail(listing.error().context(view.enforcer));
    const auto listed = scenarios::ruleset_of(*listing);
    if (!listed)
      return fail(listed.error().context(view.enforcer));
    auto trip = proof::round_trip(site, view, text, *listed);
    if (!trip)
      return fail(trip.error().context(view.enforcer));
    if (trip->proof.holds() && trip->table != proof::RoundTrip::Table::Same)
      trip->proof.not_proven = "the kernel lists other rules than were compiled";
    trip->proof.rules = "compiled, as the kernel lists them";
    out.push_back(std::move(trip->proof));
  }
  return out;
}

// Nothing is written that is not proven. The exit code of a refusal, the reason told on stderr.
Result<int> prove(const compiler::Site& site, const Settings& settings,
                  compiler::Artifacts& artifacts) {
  const auto told = [&](const std::vector<proof::EnforcerProof>& proofs) {
    const int code = proof_exit(proofs);
    if (code != kExitOk)
      std::fputs((proof_text(proofs, view_of(settings)) +
                  "bulkhead: nothing was written: the compiled rules are not proven\n")
                     .c_str(),
                 stderr);
    return code;
  };
  if (const int code = told(proof::prove_written(site, artifacts)); code != kExitOk)
    return code;
  if (settings.verify) {
    const auto proofs = through_the_kernel(site, artifacts);
    if (!proofs)
      return fail(proofs.error());
    if (const int code = told(*proofs); code != kExitOk)
      return code;
  }
  compiler::set_proof(artifacts,
                      {"equal for all packets", std::string(proof::kEngine),
                       settings.verify ? "in memory and through the kernel" : "in memory"});
  return kExitOk;
}

Result<int> run(const Settings& settings) {
  if (settings.output.empty())
    return fail(ErrorKind::Usage, "`compile` wants --output DIR: the folder to write");
  auto site = open_site(settings);
  if (!site)
    return fail(site.error());
  compiler::PlanOptions plan;
  plan.seed = settings.seed;
  compiler::Artifacts artifacts = compiler::compile(*site, plan);
  const auto refused = prove(*site, settings, artifacts);
  if (!refused)
    return fail(refused.error());
  if (*refused != kExitOk)
    return *refused;
  if (Status written = write_folder(settings.output, artifacts.files); !written)
    return fail(written.error());
  if (settings.quiet)
    return kExitOk;

  std::string text = site->coverage.views.empty()
                         ? "no enforcer of ours: no ruleset to prove\n"
                         : fmt::format("proved: equal to the flow matrix for all packets ({})\n",
                                       settings.verify ? "in memory and through the kernel"
                                                       : "in memory; --verify: through the kernel");
  text += fmt::format("{:<16}  {:>9}  {}\n", "sha256, begins", "bytes", "file");
  for (const compiler::Artifact& file : artifacts.files)
    text += fmt::format("{}  {:>9}  {}\n", sha256_hex(file.text).substr(0, 16), file.text.size(),
                        (std::filesystem::path(settings.output) / file.path).string());
  Settings to_stdout = settings;
  to_stdout.output.clear();
  if (Status written = answer(to_stdout, text); !written)
    return fail(written.error());
  return kExitOk;
}

}  // namespace

Verb compile_verb() {
  return {
      .name = "compile",
      .arguments = "SITE --output DIR",
      .summary = "Write the rulesets, the probe plan and their manifest",
      .details =
          "Writes ENFORCER/nftables.nft for each enforcer that bulkhead manages, probes.json, the\n"
          "site's own files and manifest.json with the digest of each. Same site, same day: same "
          "bytes. DIR is "
          "replaced\n"
          "as a whole; with an error in the site nothing is written. Each ruleset is first read\n"
          "back in memory and compared with the flow matrix for all packets: what is not equal\n"
          "is not written (exit 1), nor what is too large to decide (exit 4). --verify also loads\n"
          "it, with the rules of others beside it, into a namespace that is thrown away: what the\n"
          "kernel lists must be the same.",
      .example =
          "  bulkhead compile scenarios/two-tenants --output out\n"
          "  bulkhead compile scenarios/two-tenants --output out --verify\n"
          "  nft --check --file out/fw/nftables.nft\n",
      .options = {"output", "verify", "as-of", "seed", "quiet", "verbose", "color"},
      .run = run,
  };
}

}  // namespace bulkhead::cli
