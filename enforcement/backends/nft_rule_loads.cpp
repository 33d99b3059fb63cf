#include "enforcement/backends/nft_rule_loads.h"

#include <netinet/in.h>  // before linux/: both define its structures

#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include <endian.h>

#include <array>
#include <string_view>

#include "enforcement/backends/nft_dump.h"

namespace bulkhead::enforcement {

namespace {

constexpr std::size_t kMostAttributes = 32;
using Attributes = std::array<const nlattr*, kMostAttributes>;

int keep(const nlattr* attribute, void* out) {
  const std::uint16_t type = mnl_attr_get_type(attribute);
  if (type < kMostAttributes)
    (*static_cast<Attributes*>(out))[type] = attribute;
  return MNL_CB_OK;
}

Attributes inside(const nlattr* nest) {
  Attributes attributes{};
  if (nest != nullptr)
    mnl_attr_parse_nested(nest, keep, &attributes);
  return attributes;
}

std::string number(const nlattr* attribute) {
  return std::to_string(attribute != nullptr ? ntohl(mnl_attr_get_u32(attribute)) : 0);
}

// Only what loads a register is of interest: a `meta set` has a source instead.
int add_expression(const nlattr* element, void* out) {
  std::string& line = *static_cast<std::string*>(out);
  const Attributes expression = inside(element);
  if (expression[NFTA_EXPR_NAME] == nullptr)
    return MNL_CB_OK;
  const std::string_view name = mnl_attr_get_str(expression[NFTA_EXPR_NAME]);
  const Attributes data = inside(expression[NFTA_EXPR_DATA]);
  if (name == "meta") {
    if (data[NFTA_META_DREG] != nullptr)
      line += " meta:" + number(data[NFTA_META_KEY]);
  } else if (name == "ct") {
    if (data[NFTA_CT_DREG] != nullptr)
      line += " ct:" + number(data[NFTA_CT_KEY]);
  } else if (name == "payload") {
    if (data[NFTA_PAYLOAD_DREG] != nullptr)
      line += " payload:" + number(data[NFTA_PAYLOAD_BASE]) + ':' +
              number(data[NFTA_PAYLOAD_OFFSET]) + ':' + number(data[NFTA_PAYLOAD_LEN]);
  } else {
    line.append(" other:").append(name);
  }
  return MNL_CB_OK;
}

int on_rule(const nlmsghdr* message, void* out) {
  const auto* head = static_cast<const nfgenmsg*>(mnl_nlmsg_get_payload(message));
  Attributes rule{};
  if (mnl_attr_parse(message, sizeof(nfgenmsg), keep, &rule) < 0)
    return MNL_CB_ERROR;
  if (rule[NFTA_RULE_TABLE] == nullptr || rule[NFTA_RULE_CHAIN] == nullptr ||
      rule[NFTA_RULE_HANDLE] == nullptr)
    return MNL_CB_OK;
  std::string& line = *static_cast<std::string*>(out);
  line.append(table_family_name(head->nfgen_family)) += ' ';
  line.append(mnl_attr_get_str(rule[NFTA_RULE_TABLE])) += ' ';
  line.append(mnl_attr_get_str(rule[NFTA_RULE_CHAIN])) += ' ';
  line += std::to_string(be64toh(mnl_attr_get_u64(rule[NFTA_RULE_HANDLE])));
  if (const nlattr* list = rule[NFTA_RULE_EXPRESSIONS]; list != nullptr)
    mnl_attr_parse_nested(list, add_expression, out);
  line += '\n';
  return MNL_CB_OK;
}

}  // namespace

Result<std::string> rule_loads() {
  std::string lines;
  if (const Status read = dump_nftables(NFT_MSG_GETRULE, "the rules", on_rule, &lines); !read)
    return fail(read.error());
  return lines;
}

}  // namespace bulkhead::enforcement
