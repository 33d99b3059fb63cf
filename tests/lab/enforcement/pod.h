// scenarios/two-tenants as namespaces around fw, and sockets in them.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>

#include "net.h"
#include "place.h"
#include "policy/support/handle.h"

namespace bulkhead::test {

struct TenantPod {
  TenantPod() : net(name_of_test()) {
    net.host("red", "bond0.101", {"10.1.0.1/24", "fd00:1::1/64"},
             {"10.1.0.11/24", "fd00:1::11/64"});
    net.host("blue", "bond0.102", {"10.2.0.1/24", "fd00:2::1/64"},
             {"10.2.0.11/24", "fd00:2::11/64"});
    net.host("stor", "bond0.103", {"10.3.0.1/24", "fd00:3::1/64"},
             {"10.3.0.11/24", "fd00:3::11/64"});
  }
  [[nodiscard]] std::string fw_path() const { return "/run/netns/" + net.netns("fw"); }
  Net net;
};

inline sockaddr_in end_of(const std::string& address, std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  ::inet_pton(AF_INET, address.c_str(), &out.sin_addr);
  return out;
}

// A socket made in a host's namespace stays there, whichever thread uses it.
inline UniqueFd socket_in(const Net& net, const std::string& host, int type) {
  UniqueFd out;
  inside(net.netns(host), [&] { out = UniqueFd(::socket(AF_INET, type | SOCK_CLOEXEC, 0)); });
  return out;
}
inline UniqueFd bound(const Net& net, const std::string& host, int type, std::uint16_t port) {
  UniqueFd out = socket_in(net, host, type);
  const sockaddr_in any = end_of("0.0.0.0", port);
  const int yes = 1;
  ::setsockopt(out.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(out.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0)
    out.reset();
  return out;
}
inline bool connects(const UniqueFd& socket, const std::string& to, std::uint16_t port) {
  const sockaddr_in peer = end_of(to, port);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&peer), sizeof peer) == 0;
}
// Whether a byte that is sent at one end of a connection comes out of the other.
inline bool carries(const UniqueFd& from, const UniqueFd& to, int patience_ms) {
  char byte = 'x';
  if (::send(from.get(), &byte, 1, MSG_NOSIGNAL) != 1)
    return false;
  pollfd end{to.get(), POLLIN, 0};
  return ::poll(&end, 1, patience_ms) == 1 && ::recv(to.get(), &byte, 1, MSG_DONTWAIT) == 1;
}

}  // namespace bulkhead::test
