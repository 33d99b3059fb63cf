#include <arpa/inet.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "enforcement/connection.h"
#include "enforcement/netlink.h"

namespace bulkhead::enforcement {

namespace {

constexpr int kAttempts = 10;

nlmsghdr* put_header(char* buffer, std::uint16_t message, std::uint16_t flags, std::uint8_t family,
                     std::uint32_t sequence) {
  nlmsghdr* const header = mnl_nlmsg_put_header(buffer);
  header->nlmsg_type = static_cast<std::uint16_t>((NFNL_SUBSYS_CTNETLINK << 8) | message);
  header->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
  header->nlmsg_seq = sequence;
  auto* const subsystem =
      static_cast<nfgenmsg*>(mnl_nlmsg_put_extra_header(header, sizeof(nfgenmsg)));
  subsystem->nfgen_family = family;
  subsystem->version = NFNETLINK_V0;
  return header;
}

void read_address(Address& out, Family family, const nlattr* attribute) {
  out = Address{};
  out.family = family;
  std::memcpy(out.bytes.data(), mnl_attr_get_payload(attribute),
              std::min<std::size_t>(mnl_attr_get_payload_len(attribute), out.bytes.size()));
}

void read_ends(Connection::Tuple& tuple, const nlattr* attribute) {
  switch (mnl_attr_get_type(attribute)) {
    case CTA_IP_V4_SRC:
      return read_address(tuple.from, Family::V4, attribute);
    case CTA_IP_V4_DST:
      return read_address(tuple.to, Family::V4, attribute);
    case CTA_IP_V6_SRC:
      return read_address(tuple.from, Family::V6, attribute);
    case CTA_IP_V6_DST:
      return read_address(tuple.to, Family::V6, attribute);
    default:
      return;
  }
}

void read_protocol(Connection::Tuple& tuple, const nlattr* attribute) {
  switch (mnl_attr_get_type(attribute)) {
    case CTA_PROTO_NUM:
      tuple.protocol = mnl_attr_get_u8(attribute);
      return;
    case CTA_PROTO_SRC_PORT:
      tuple.sport = ntohs(mnl_attr_get_u16(attribute));
      return;
    case CTA_PROTO_DST_PORT:
      tuple.dport = ntohs(mnl_attr_get_u16(attribute));
      return;
    case CTA_PROTO_ICMP_TYPE:
    case CTA_PROTO_ICMPV6_TYPE:
      tuple.icmp_type = mnl_attr_get_u8(attribute);
      return;
    default:
      return;
  }
}

void read_tuple(Connection::Tuple& tuple, const nlattr* attribute) {
  for_each_nested(attribute, [&](const nlattr* part) {
    if (mnl_attr_get_type(part) == CTA_TUPLE_IP)
      for_each_nested(part, [&](const nlattr* end) { read_ends(tuple, end); });
    else if (mnl_attr_get_type(part) == CTA_TUPLE_PROTO)
      for_each_nested(part, [&](const nlattr* end) { read_protocol(tuple, end); });
  });
}

void keep(std::vector<std::uint8_t>& key, const nlattr* attribute) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(attribute);
  key.insert(key.end(), bytes, bytes + MNL_ALIGN(attribute->nla_len));
}

int on_connection(const nlmsghdr* message, void* out) {
  Connection connection;
  for_each_attribute(message, sizeof(nfgenmsg), [&](const nlattr* attribute) {
    switch (mnl_attr_get_type(attribute)) {
      case CTA_TUPLE_ORIG:
        read_tuple(connection.original, attribute);
        keep(connection.key, attribute);
        return;
      case CTA_TUPLE_REPLY:
        read_tuple(connection.reply, attribute);
        return;
      case CTA_ZONE:
        connection.zone = ntohs(mnl_attr_get_u16(attribute));
        keep(connection.key, attribute);
        return;
      case CTA_ID:
        keep(connection.key, attribute);
        return;
      default:
        return;
    }
  });
  static_cast<std::vector<Connection>*>(out)->push_back(std::move(connection));
  return MNL_CB_OK;
}

// Errno, 0 when the whole table was read.
int dump(std::vector<Connection>& out) {
  const auto socket = open_netlink(NETLINK_NETFILTER);
  if (!socket)
    return EIO;
  alignas(nlmsghdr) std::array<char, 512> request{};
  const nlmsghdr* const header =
      put_header(request.data(), IPCTNL_MSG_CT_GET, NLM_F_DUMP, AF_UNSPEC, 1);
  if (mnl_socket_sendto(socket->get(), header, header->nlmsg_len) < 0)
    return errno;
  return receive(socket->get(), 1, true, on_connection, &out);
}

// Errno of the kernel's answer.
int remove(mnl_socket* socket, const Connection& connection, std::uint32_t sequence) {
  alignas(nlmsghdr) std::array<char, 1024> buffer{};
  nlmsghdr* const header =
      put_header(buffer.data(), IPCTNL_MSG_CT_DELETE, NLM_F_ACK,
                 connection.original.from.family == Family::V4 ? AF_INET : AF_INET6, sequence);
  if (header->nlmsg_len + connection.key.size() > buffer.size())
    return EMSGSIZE;
  std::memcpy(buffer.data() + header->nlmsg_len, connection.key.data(), connection.key.size());
  header->nlmsg_len += static_cast<std::uint32_t>(connection.key.size());
  if (mnl_socket_sendto(socket, header, header->nlmsg_len) < 0)
    return errno;
  return receive(socket, sequence, false, nullptr, nullptr);
}

}  // namespace

Result<std::vector<Connection>> list_connections() {
  int error = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::vector<Connection> out;
    error = dump(out);
    if (error == 0)
      return out;
    if (error != EINTR && error != ENOBUFS)
      break;
  }
  return fail_errno("list connections", error);
}

Status delete_connections(const std::vector<Connection>& connections) {
  if (connections.empty())
    return {};
  const auto socket = open_netlink(NETLINK_NETFILTER);
  if (!socket)
    return fail(socket.error());
  std::uint32_t sequence = 0;
  for (const Connection& connection : connections)
    if (const int error = remove(socket->get(), connection, ++sequence);
        error != 0 && error != ENOENT)
      return fail_errno("cut " + to_string(connection), error);
  return {};
}

}  // namespace bulkhead::enforcement
