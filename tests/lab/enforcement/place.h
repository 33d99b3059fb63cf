// A place to enforce at, for tests: a network namespace named after the test, a state folder, and
// bundles of scenarios/two-tenants. All gone at the end.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "enforcement/enforce.h"
#include "enforcement/nft_target.h"

namespace bulkhead::test {

[[nodiscard]] std::string name_of_test();  // of the running one, fit for a namespace

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class Netns {
 public:
  Netns();  // throws where it cannot be made
  ~Netns();
  Netns(const Netns&) = delete;
  Netns& operator=(const Netns&) = delete;
  [[nodiscard]] std::string path() const { return "/run/netns/" + name_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  int run(const std::string& command) const;  // by a shell in it; its exit status
  [[nodiscard]] std::string output(const std::string& command) const;

 private:
  std::string name_;
};

// scenarios/two-tenants, with its files changed by `edit`, as `bulkhead compile` would give it to
// fw.
using SiteFiles = std::map<std::string, std::string>;
[[nodiscard]] enforcement::Target two_tenants(const std::function<void(SiteFiles& files)>& edit =
                                                  [](SiteFiles&) {});
void replace(std::string& text, const std::string& what, const std::string& by);  // must be there

// The hooks of a change to that: proven and cut as `bulkhead apply` does it, without a watchdog.
[[nodiscard]] enforcement::Change change_to(const enforcement::Target& target,
                                            enforcement::Backend& backend);

}  // namespace bulkhead::test
