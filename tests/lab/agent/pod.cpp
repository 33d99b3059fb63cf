#include "tests/lab/agent/pod.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace bulkhead::test {
namespace {

constexpr const char* kHosts[] = {"client", "router", "server"};

struct Output {
  int status = 0;
  std::string text;
};

Output shell(const std::string& command) {
  Output output;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr)
    return {-1, "popen failed"};
  std::array<char, 4096> chunk;
  for (std::size_t got = 0; (got = ::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;)
    output.text.append(chunk.data(), got);
  output.status = ::pclose(pipe);
  return output;
}

void must(const std::string& command) {
  const Output output = shell(command);
  ASSERT_EQ(output.status, 0) << command << "\n" << output.text;
}

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

}  // namespace

Address address(const char* text) {
  return Address::parse(text).value();
}

std::string Pod::why_not() {
  if (::geteuid() != 0)
    return "needs root";
  const std::string name = fmt::format("bulkhead-why-not-{}", ::getpid());
  const Output made = shell("ip netns add " + name);
  shell("ip netns del " + name);
  return made.status == 0 ? "" : "cannot make a network namespace: " + made.text;
}

Pod::Pod() {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  prefix_ = fmt::format("{}.{}", info->test_suite_name(), info->name());
  remove();
  std::string script = "set -e\n";
  for (const char* host : kHosts) {
    script += fmt::format("ip netns add {0}\nip -n {0} link set lo up\n", netns(host));
    script += fmt::format(
        "ip netns exec {} sysctl -qw net.ipv6.conf.all.accept_dad=0 "
        "net.ipv6.conf.default.accept_dad=0\n",
        netns(host));
  }
  const std::string router = netns("router");
  int side = 1;
  for (const char* host : {"client", "server"}) {
    const std::string ns = netns(host);
    script += fmt::format(
        "ip -n {0} link add eth0 type veth peer name to_{1} netns {2}\n"
        "ip -n {0} address add 10.{3}.0.2/24 dev eth0\n"
        "ip -n {0} address add fd0{3}::2/64 dev eth0 nodad\n"
        "ip -n {2} address add 10.{3}.0.1/24 dev to_{1}\n"
        "ip -n {2} address add fd0{3}::1/64 dev to_{1} nodad\n"
        "ip -n {0} link set eth0 up\n"
        "ip -n {2} link set to_{1} up\n"
        "ip -n {0} route add default via 10.{3}.0.1\n"
        "ip -n {0} route add default via fd0{3}::1\n",
        ns, host, router, side);
    ++side;
  }
  script += fmt::format(
      "ip netns exec {} sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1\n", router);
  // The kernel notices a veth's carrier in its own time, and answers no neighbour solicitation
  // before: a first packet could wait a second. A refusal by the server shows that all is up.
  for (const char* server : {"10.2.0.2", "fd02::2"}) {
    script += fmt::format(
        "for i in $(seq 100); do\n"
        "ip netns exec {} timeout 1 bash -c '</dev/tcp/{}/9' 2>&1 | grep -q refused && break\n"
        "sleep 0.1\ndone\n",
        netns("client"), server);
  }
  must("bash -c " + shell_quoted(script));
}

Pod::~Pod() {
  remove();
}

void Pod::remove() const {
  for (const char* host : kHosts)
    shell("ip netns del " + netns(host));
}

std::string Pod::netns(const std::string& host) const {
  return prefix_ + "." + host;
}

std::string Pod::netns_path(const std::string& host) const {
  return "/run/netns/" + netns(host);
}

std::string Pod::run(const std::string& host, const std::string& command) const {
  const Output output =
      shell(fmt::format("ip netns exec {} bash -c {}", netns(host), shell_quoted(command)));
  EXPECT_EQ(output.status, 0) << command << "\n" << output.text;
  return output.text;
}

void Pod::rules(const std::string& nft) const {
  run("router", "nft -f - <<'END'\n" + nft + "\nEND");
}

void Pod::forget_rules() const {
  for (const char* host : kHosts)
    run(host, "nft flush ruleset");
}

void Pod::trace() const {
  std::string table = "table inet bulkhead_trace {\n";
  for (const char* hook : {"prerouting", "output"}) {
    table += fmt::format(
        "chain {} {{\n type filter hook {} priority -350; policy accept;\n"
        " ip saddr 10.1.0.2 meta nftrace set 1\n ip6 saddr fd01::2 meta nftrace set 1\n}}\n",
        hook == std::string("output") ? "trace_out" : "trace_pre", hook);
  }
  table +=
      "chain trace_last_post {\n type filter hook postrouting priority 350; policy accept;\n}\n"
      "chain trace_last_in {\n type filter hook input priority 350; policy accept;\n}\n}\n";
  rules(table);
}

}  // namespace bulkhead::test
