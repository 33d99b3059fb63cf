// One netlink question and its one answer, and attributes by their number. For the .cpp files that
// read what the kernel knows.
#pragma once

#include <libmnl/libmnl.h>

#include <array>
#include <cstdint>
#include <functional>

namespace bulkhead::probes {

// A message under way: `header` lies in `bytes`.
struct NetlinkRequest {
  explicit NetlinkRequest(std::uint16_t type) : header(mnl_nlmsg_put_header(bytes.data())) {
    header->nlmsg_type = type;
    header->nlmsg_flags = NLM_F_REQUEST;
  }
  NetlinkRequest(const NetlinkRequest&) = delete;
  NetlinkRequest& operator=(const NetlinkRequest&) = delete;

  alignas(nlmsghdr) std::array<char, 8192> bytes{};
  nlmsghdr* header;
};

// Gives the first answer to `read` where it is of type `answer`. False: it is not, or none came.
bool ask_netlink(int protocol, const NetlinkRequest& request, std::uint16_t answer,
                 const std::function<void(const nlmsghdr*)>& read);

// Null where absent.
template <int Max>
using Attributes = std::array<const nlattr*, Max + 1>;

template <int Max>
int keep_attribute(const nlattr* attribute, void* table) {
  const std::uint16_t type = mnl_attr_get_type(attribute);
  if (type <= Max)
    (*static_cast<Attributes<Max>*>(table))[type] = attribute;
  return MNL_CB_OK;
}

// `Header` stands between the message's own and its attributes.
template <int Max, class Header>
Attributes<Max> read_attributes(const nlmsghdr* message) {
  Attributes<Max> attributes{};
  mnl_attr_parse(message, sizeof(Header), keep_attribute<Max>, &attributes);
  return attributes;
}

template <int Max>
Attributes<Max> read_nested(const nlattr* nest) {
  Attributes<Max> attributes{};
  mnl_attr_parse_nested(nest, keep_attribute<Max>, &attributes);
  return attributes;
}

}  // namespace bulkhead::probes
