#include "probes/netlink.h"

#include <sys/socket.h>
#include <sys/time.h>

#include "policy/support/handle.h"

namespace bulkhead::probes {

bool ask_netlink(int protocol, const NetlinkRequest& request, std::uint16_t answer,
                 const std::function<void(const nlmsghdr*)>& read) {
  const UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
  if (!fd)
    return false;
  const timeval patience{1, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (::send(fd.get(), request.header, request.header->nlmsg_len, 0) < 0)
    return false;
  alignas(nlmsghdr) std::array<char, 8192> buffer{};
  const ssize_t got = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
  const auto* reply = reinterpret_cast<const nlmsghdr*>(buffer.data());
  if (got <= 0 || !mnl_nlmsg_ok(reply, static_cast<int>(got)) || reply->nlmsg_type != answer)
    return false;
  read(reply);
  return true;
}

}  // namespace bulkhead::probes
