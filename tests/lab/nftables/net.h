// A few hosts around one enforcer, as network namespaces named after the test; and packets made by
// hand, so that a test can forge what no socket would send. Gone at the end, and cleaned of
// leftovers at the start.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/support/address.h"

namespace bulkhead::test {

// Empty where namespaces can be made here; else what is missing, for GTEST_SKIP.
[[nodiscard]] std::string missing_for_lab();

// Runs `work` on a thread inside the namespace and waits for it.
void inside(const std::string& netns, const std::function<void()>& work);

// One datagram, headers and checksums made.
struct Packet {
  std::string from, to;  // addresses of one family
  std::uint8_t protocol = 17;
  std::uint16_t sport = 40000, dport = 0;  // TCP, UDP
  std::uint8_t tcp_flags = 0x02;           // SYN
  std::uint8_t icmp_type = 8;
  std::uint8_t hop_limit = 64;
  bool extension_header = false;  // IPv6: destination options before the transport header
  std::string payload;            // after the UDP header, or the ICMP header's four bytes
};

[[nodiscard]] std::string bytes_of(const Packet& packet);

class Net {
 public:
  explicit Net(std::string name);
  ~Net();
  Net(const Net&) = delete;
  Net& operator=(const Net&) = delete;

  // A host's namespace joined to the enforcer by a veth pair; on the enforcer's side it is called
  // `leg` and has `gateway`, on the host's side `eth0` with `addresses`, and routes through it.
  void host(const std::string& host, const std::string& leg,
            const std::vector<std::string>& gateway, const std::vector<std::string>& addresses);
  [[nodiscard]] std::string netns(const std::string& host) const { return name_ + "-" + host; }
  [[nodiscard]] static constexpr const char* enforcer() { return "fw"; }

  int run(const std::string& host, const std::string& command) const;  // exit status
  [[nodiscard]] std::string output(const std::string& host, const std::string& command) const;
  // nft's own message, empty on success.
  [[nodiscard]] std::string load(const std::string& nft_text,
                                 const std::string& options = {}) const;

  // Sends the packet from `from` towards the enforcer and tells whether it comes in at the eth0 of
  // `to`.
  [[nodiscard]] bool arrives(const std::string& from, const std::string& to,
                             const Packet& packet) const;
  // Sent by the enforcer itself out of whatever leg its routes choose.
  [[nodiscard]] bool leaves(const std::string& to, const Packet& packet) const;
  // Accepted by the enforcer's input hook: counted by a table of the test's own behind ours.
  [[nodiscard]] bool reaches_input(const std::string& from, const Packet& packet) const;
  void send(const std::string& from, const Packet& packet) const;

 private:
  std::string name_;
  std::vector<std::string> made_;
  std::map<std::string, std::string> gateway_mac_;  // by host: of the leg it is joined to
};

}  // namespace bulkhead::test
