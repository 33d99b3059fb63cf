// The smallest network with an enforcer, for the agent's tests: client - router - server, each a
// network namespace named after the running test, gone before and after.
//
//   client 10.1.0.2 fd01::2 -- (10.1.0.1 fd01::1) router (10.2.0.1 fd02::1) -- 10.2.0.2 fd02::2
//
// Interfaces: client and server have eth0, the router has to_client and to_server.
#pragma once

#include <string>

#include "policy/support/address.h"

namespace bulkhead::test {

class Pod {
 public:
  // Empty: it stands. Else why it cannot (not root, no namespaces): skip the test.
  static std::string why_not();
  Pod();
  ~Pod();
  Pod(const Pod&) = delete;
  Pod& operator=(const Pod&) = delete;

  [[nodiscard]] std::string netns(const std::string& host) const;       // name
  [[nodiscard]] std::string netns_path(const std::string& host) const;  // file
  // Runs a shell command inside; fails the test where it fails. Returns its output.
  std::string run(const std::string& host, const std::string& command) const;
  // Loads nft text into the router.
  void rules(const std::string& nft) const;
  // Every namespace is without rules again.
  void forget_rules() const;
  // Adds the trace table: every packet from the client to the server is traced.
  void trace() const;

 private:
  std::string prefix_;
  void remove() const;
};

[[nodiscard]] Address address(const char* text);

}  // namespace bulkhead::test
