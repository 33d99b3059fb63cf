#include "compiler/compile.h"

#include <fmt/format.h>

#include "cli/commands/verbs.h"
#include "cli/support/answer.h"
#include "cli/support/exit_code.h"
#include "cli/support/files.h"
#include "cli/support/site_argument.h"
#include "policy/support/sha256.h"

namespace bulkhead::cli {
namespace {

Result<int> run(const Settings& settings) {
  if (settings.output.empty())
    return fail(ErrorKind::Usage, "`compile` wants --output DIR: the folder to write");
  auto site = open_site(settings);
  if (!site)
    return fail(site.error());
  compiler::PlanOptions plan;
  plan.seed = settings.seed;
  const compiler::Artifacts artifacts = compiler::compile(*site, plan);
  if (Status written = write_folder(settings.output, artifacts.files); !written)
    return fail(written.error());
  if (settings.quiet)
    return kExitOk;

  std::string text;
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
          "Writes ENFORCER/nftables.nft for each enforcer that bulkhead manages, probes.json and\n"
          "manifest.json with the digest of each. Same site, same day: same bytes. DIR is "
          "replaced\n"
          "as a whole; with an error in the site nothing is written.",
      .example =
          "  bulkhead compile scenarios/two-tenants --output out\n"
          "  nft --check --file out/fw/nftables.nft\n",
      .options = {"output", "as-of", "seed", "quiet", "color"},
      .run = run,
  };
}

}  // namespace bulkhead::cli
