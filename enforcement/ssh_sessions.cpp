// Who is logged in by ssh, from /proc alone: the sockets that processes named sshd hold, as far as
// they are connections of this network namespace.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "enforcement/lockout.h"

namespace bulkhead::enforcement {

namespace {

namespace fs = std::filesystem;

// The kernel prints 32-bit words of an address in the order of this machine's bytes.
std::optional<Address> address_of(std::string_view hex) {
  Address out;
  out.family = hex.size() == 8 ? Family::V4 : Family::V6;
  for (std::size_t word = 0; word * 8 < hex.size(); ++word) {
    std::uint32_t value = 0;
    const char* const begin = hex.data() + word * 8;
    if (std::from_chars(begin, begin + 8, value, 16).ptr != begin + 8)
      return std::nullopt;
    std::memcpy(out.bytes.data() + word * 4, &value, 4);
  }
  // A listener for both families has its IPv4 peers as ::ffff:a.b.c.d.
  constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (out.family == Family::V6 && std::equal(kMapped.begin(), kMapped.end(), out.bytes.begin())) {
    Address v4;
    std::copy_n(out.bytes.begin() + 12, 4, v4.bytes.begin());
    return v4;
  }
  return out;
}

std::optional<std::pair<Address, std::uint16_t>> end_of(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos)
    return std::nullopt;
  const auto address = address_of(std::string_view(text).substr(0, colon));
  std::uint16_t port = 0;
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), port, 16);
  if (!address)
    return std::nullopt;
  return std::pair(*address, port);
}

bool is_sshd(const fs::path& process) {
  std::ifstream file(process / "comm");
  std::string name;
  std::getline(file, name);
  return name.starts_with("sshd");  // "sshd", "sshd-session" of OpenSSH 9.8
}

// "12345" of every "socket:[12345]" that an sshd holds.
std::set<std::string> sockets_of_sshd() {
  std::set<std::string> out;
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    if (process.path().filename().string().find_first_not_of("0123456789") != std::string::npos ||
        !is_sshd(process.path()))
      continue;
    std::error_code denied;  // gone meanwhile, or another's
    for (const auto& fd : fs::directory_iterator(process.path() / "fd", denied)) {
      const std::string to = fs::read_symlink(fd.path(), denied).string();
      if (!denied && to.starts_with("socket:[") && to.ends_with(']'))
        out.insert(to.substr(8, to.size() - 9));
    }
  }
  return out;
}

void read_connections(const char* file, const std::set<std::string>& sockets,
                      std::set<SshSession>& out) {
  constexpr const char* kEstablished = "01";
  std::ifstream table(file);
  std::string line;
  std::getline(table, line);  // the header
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string number, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
    words >> number >> local >> remote >> state >> queues >> timer >> retransmits >> uid >>
        timeout >> inode;
    const auto server = end_of(local), client = end_of(remote);
    if (state == kEstablished && sockets.contains(inode) && server && client)
      out.insert({client->first, server->first, client->second, server->second});
  }
}

// "CLIENT PORT SERVER PORT"
void read_environment(std::set<SshSession>& out) {
  const char* const text = std::getenv("SSH_CONNECTION");
  if (text == nullptr)
    return;
  std::istringstream words(text);
  std::string client, server;
  SshSession session;
  words >> client >> session.client_port >> server >> session.server_port;
  const auto from = Address::parse(client), to = Address::parse(server);
  if (words && from && to) {
    session.client = *from;
    session.server = *to;
    out.insert(session);
  }
}

}  // namespace

std::vector<SshSession> ssh_sessions() {
  std::set<SshSession> all;
  read_environment(all);
  const auto sockets = sockets_of_sshd();
  for (const char* file : {"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"})
    read_connections(file, sockets, all);
  std::vector<SshSession> out;
  for (const SshSession& session : all)
    if (!session.client.is_loopback() && session.client != session.server)
      out.push_back(session);
  return out;
}

}  // namespace bulkhead::enforcement
