#include "enforcement/bundle.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/compile.h"
#include "enforcement/file.h"
#include "policy/date.h"
#include "policy/support/sha256.h"

namespace bulkhead::enforcement {

namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> refuse(const fs::path& file, std::string_view why) {
  return fail(ErrorKind::Usage, fmt::format("{} {}: compile the site again", file.string(), why));
}

// A manifest is somebody's file until its digests hold: it names nothing outside its folder.
Result<std::string> verified(const fs::path& folder, const std::string& file,
                             const std::string& sha256) {
  if (const auto flaw = policy::flaw_of_path(file); !flaw.empty())
    return fail(ErrorKind::Usage,
                fmt::format("{}: `{}` {}", (folder / "manifest.json").string(), file, flaw));
  auto text = read_whole(folder / file);
  if (!text)
    return fail(ErrorKind::Usage, text.error().message);
  if (sha256_hex(*text) != sha256)
    return refuse(folder / file, "was changed after it was compiled");
  return text;
}

Status check_rulesets(const Bundle& bundle) {
  for (const auto& [enforcer, file] : bundle.manifest.enforcers)
    if (auto text = verified(bundle.folder, file.file, file.sha256); !text)
      return fail(text.error());
  const auto& probes = bundle.manifest.probes;
  return verified(bundle.folder, probes.file, probes.sha256).map([](auto&&) {});
}

Status read_site(Bundle& bundle) {
  const std::string prefix = std::string(compiler::kSiteFolder) + "/";
  for (const auto& [file, sha256] : bundle.manifest.site_files) {
    auto text = verified(bundle.folder, file, sha256);
    if (!text)
      return fail(text.error());
    if (!file.starts_with(prefix))
      return refuse(bundle.folder / file, "is no file of the site");
    bundle.site_files.emplace(file.substr(prefix.size()), std::move(*text));
  }
  auto site = site_of(bundle.site_files, bundle.manifest.as_of);
  if (!site)
    return fail(site.error().context(bundle.folder.string()));
  bundle.site = std::move(*site);
  if (bundle.site->policy_digest != bundle.manifest.policy)
    return refuse(bundle.folder / "manifest.json", "was made of another site");
  return {};
}

}  // namespace

Result<std::unique_ptr<compiler::Site>> site_of(const std::map<std::string, std::string>& files,
                                                const std::string& as_of) {
  const auto day = policy::parse_date(as_of);
  if (!day)
    return fail(ErrorKind::Environment, fmt::format("`{}` is no day", as_of));
  // Copies have plain paths; an include may say "./tenants/red.toml".
  const auto read = [reader = policy::memory_reader(files)](const std::string& path) {
    return reader(fs::path(path).lexically_normal().string());
  };
  auto site = std::make_unique<compiler::Site>(compiler::load_site(read, *day));
  if (!site->ok())
    return fail(ErrorKind::Usage, "the site in it has errors, seen by this bulkhead:\n" +
                                      render(site->diagnostics, site->sources, false));
  return site;
}

Result<Bundle> open_bundle(const fs::path& folder) {
  Bundle bundle;
  bundle.folder = folder;
  const auto text = read_whole(folder / "manifest.json");
  if (!text)
    return fail(ErrorKind::Usage,
                fmt::format("{}: no bundle, which `bulkhead compile SITE --output DIR` writes ({})",
                            folder.string(), text.error().message));
  auto manifest = compiler::parse_manifest(*text);
  if (!manifest)
    return fail(ErrorKind::Usage, folder.string() + ": " + manifest.error().message);
  bundle.manifest = std::move(*manifest);
  bundle.digest = "sha256:" + sha256_hex(*text);
  if (!bundle.manifest.proof.result.starts_with("equal"))
    return refuse(folder / "manifest.json", "says that its rulesets are not proven");
  if (Status checked = check_rulesets(bundle); !checked)
    return fail(checked.error());
  if (Status read = read_site(bundle); !read)
    return fail(read.error());
  return bundle;
}

Result<Member> find_member(const compiler::Site& site, const std::string& host) {
  std::string known;
  for (const compiler::EnforcerView& view : site.coverage.views) {
    const auto& members = site.inventory.enforcers.at(view.enforcer).members;
    if (std::find(members.begin(), members.end(), host) != members.end())
      return Member{host, &view};
    for (const std::string& member : members)
      known += (known.empty() ? "" : ", ") + member;
  }
  return fail(ErrorKind::Usage, fmt::format("no enforcer that bulkhead manages has a member `{}`: "
                                            "there is {}",
                                            host, known.empty() ? "none" : known));
}

Result<std::string> ruleset_of(const Bundle& bundle, const Member& member) {
  const auto file = bundle.manifest.enforcers.find(member.view->enforcer);
  if (file == bundle.manifest.enforcers.end())
    return refuse(bundle.folder / "manifest.json", "has no ruleset of " + member.view->enforcer);
  return verified(bundle.folder, file->second.file, file->second.sha256);
}

}  // namespace bulkhead::enforcement
