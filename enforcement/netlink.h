// What all questions to the kernel by netlink share, over libmnl. Included by .cpp files only.
#pragma once

#include <libmnl/libmnl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>

#include "policy/support/handle.h"
#include "policy/support/result.h"

namespace bulkhead::enforcement {

using MnlSocket = Handle<mnl_socket, &mnl_socket_close>;

// Of the calling thread's network namespace. `bus` is NETLINK_NETFILTER or NETLINK_ROUTE.
[[nodiscard]] inline Result<MnlSocket> open_netlink(int bus) {
  MnlSocket socket(mnl_socket_open2(bus, SOCK_CLOEXEC));
  if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0)
    return fail_errno("open a netlink socket", errno);
  return socket;
}

// libmnl's own loops are macros of C that C++ does not take.
template <class Visit>
void for_each_attribute(const nlmsghdr* message, std::size_t header, Visit visit) {
  mnl_attr_parse(
      message, static_cast<unsigned>(header),
      [](const nlattr* attribute, void* with) {
        (*static_cast<Visit*>(with))(attribute);
        return MNL_CB_OK;
      },
      &visit);
}
template <class Visit>
void for_each_nested(const nlattr* parent, Visit visit) {
  mnl_attr_parse_nested(
      parent,
      [](const nlattr* attribute, void* with) {
        (*static_cast<Visit*>(with))(attribute);
        return MNL_CB_OK;
      },
      &visit);
}

// Reads answers until the last one of a dump, or the only one; errno of what went wrong, else 0.
// EINTR: a dump that others' changes may have torn.
[[nodiscard]] inline int receive(mnl_socket* socket, unsigned sequence, bool is_dump, mnl_cb_t each,
                                 void* out) {
  alignas(nlmsghdr) char buffer[65536];
  for (int more = MNL_CB_OK; more > MNL_CB_STOP;) {
    const ssize_t got = mnl_socket_recvfrom(socket, buffer, sizeof buffer);
    if (got < 0)
      return errno;
    more = mnl_cb_run(buffer, static_cast<std::size_t>(got), sequence,
                      mnl_socket_get_portid(socket), each, out);
    if (more < 0)
      return errno;
    if (!is_dump)
      return 0;
  }
  return 0;
}

}  // namespace bulkhead::enforcement
