#include "place.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "compiler/ir.h"
#include "compiler/targets/nftables.h"
#include "enforcement/file.h"
#include "enforcement/revoke.h"

namespace bulkhead::test {

namespace fs = std::filesystem;

std::string name_of_test() {
  const auto* const info = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string("bh-") + info->test_suite_name() + "-" + info->name();
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "bulkhead-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("no temporary folder");
  path_ = name;
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Netns::Netns() : name_(name_of_test()) {
  std::system(("ip netns del " + name_ + " 2>/dev/null").c_str());
  if (std::system(("ip netns add " + name_ + " && ip -n " + name_ + " link set lo up").c_str()) !=
      0)
    throw std::runtime_error("no namespace " + name_);
}
Netns::~Netns() {
  std::system(("ip netns del " + name_ + " 2>/dev/null").c_str());
}

int Netns::run(const std::string& command) const {
  const int status = std::system(("ip netns exec " + name_ + " sh -c '" + command + "'").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::string Netns::output(const std::string& command) const {
  FILE* const pipe = ::popen(("ip netns exec " + name_ + " sh -c '" + command + "'").c_str(), "r");
  std::string out;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;)
    out += static_cast<char>(c);
  ::pclose(pipe);
  return out;
}

void replace(std::string& text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  if (at == std::string::npos)
    throw std::runtime_error("not there: " + what);
  text.replace(at, what.size(), by);
}

enforcement::Target two_tenants(const std::function<void(SiteFiles& files)>& edit) {
  const fs::path folder = fs::path(BULKHEAD_SOURCE_DIR) / "scenarios/two-tenants";
  enforcement::Target out;
  for (const char* file :
       {"policy.toml", "inventory.toml", "tenants/red.toml", "tenants/blue.toml"})
    out.site_files[file] = *enforcement::read_whole(folder / file);
  edit(out.site_files);
  out.as_of = "2026-12-01";
  auto site = enforcement::site_of(out.site_files, out.as_of);
  if (!site)
    throw std::runtime_error(site.error().message);
  out.site = std::move(*site);
  out.enforcer = out.member = "fw";
  out.policy = out.bundle = out.site->policy_digest;
  out.view = enforcement::find_member(*out.site, "fw")->view;
  out.change = compiler::nftables(compiler::ir::make_enforcer(*out.site, *out.view)).text;
  return out;
}

enforcement::Change change_to(const enforcement::Target& target, enforcement::Backend& backend) {
  enforcement::Change out;
  out.enforcer = target.enforcer;
  out.member = target.member;
  out.bundle = target.bundle;
  out.policy = target.policy;
  out.as_of = target.as_of;
  out.text = target.change;
  out.site_files = target.site_files;
  out.may_load = [](const enforcement::Snapshot&) { return Status(); };
  out.prove = [&target](const enforcement::Snapshot& now) {
    const auto proof = enforcement::prove(target, now);
    return proof.state == compiler::proof::MemberProof::State::Equal
               ? std::vector<std::string>()
               : std::vector<std::string>{proof.reason};
  };
  out.start_watchdog = [](const enforcement::Generation&) { return Status(); };
  out.cut = [&target, &backend]() -> Result<std::vector<std::string>> {
    const auto cut = enforcement::revoke(backend, target);
    if (!cut)
      return fail(cut.error());
    std::vector<std::string> said;
    for (const enforcement::Connection& one : *cut)
      said.push_back(to_string(one));
    return said;
  };
  return out;
}

}  // namespace bulkhead::test
