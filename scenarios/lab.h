// The pod as network namespaces: one for each host and enforcer member, one "fabric" that holds a
// bridge for each segment, addresses, routes and forwarding from the inventory. Named
// bh-<site>-<run>-<host>, so that two runs never meet; nothing is made in the machine's own
// namespace. Gone after down(), destruction, a signal, and (by a guardian process) a kill -9; what
// an earlier crash left is removed at the next up().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/site.h"
#include "policy/support/result.h"

namespace bulkhead::scenarios {

// Root, network namespaces, ip and nft: what up() needs, told in one sentence where it is missing.
[[nodiscard]] Status check_environment();

struct LabOptions {
  std::string run;          // short, [a-z0-9]; default: random
  bool persistent = false;  // `lab up`: stays after the process ends
  // Asked between the steps of building, a few times a second: its error ends up() with nothing
  // left standing.
  std::function<Status()> may_go_on = [] { return Status(); };
};

class Lab {
 public:
  // Builds everything or nothing. Environment error where namespaces or tools are missing.
  [[nodiscard]] static Result<std::unique_ptr<Lab>> up(const compiler::Site& site,
                                                       const LabOptions& options);
  // A persistent lab of this site made earlier.
  [[nodiscard]] static Result<std::unique_ptr<Lab>> find(const compiler::Site& site,
                                                         const std::string& run);
  // Removes what dead owners left. Returns the names of labs removed.
  static Result<std::vector<std::string>> sweep();

  ~Lab();  // down() unless persistent
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  [[nodiscard]] const std::string& run() const;
  [[nodiscard]] std::vector<std::string> hosts() const;  // hosts and enforcer members
  [[nodiscard]] std::string netns_path(const std::string& host) const;
  // Loads compiled rulesets (path "<enforcer>/nftables.nft") and the foreign ones into every
  // member.
  Status load_rules(const std::vector<std::pair<std::string, std::string>>& text_by_enforcer);
  // Runs a program in a host's namespace with this process's stdio; returns its exit status. One
  // that cannot be started is told in `why_not`, with the status that a shell has for it.
  Result<int> exec(const std::string& host, const std::vector<std::string>& command,
                   std::string* why_not = nullptr);
  Status down();

 private:
  Lab();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bulkhead::scenarios
