#include "enforcement/backends/nft_tables.h"

#include <netinet/in.h>  // before linux/: both define its structures

#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include <string_view>

#include "enforcement/backends/nft_dump.h"

namespace bulkhead::enforcement {

namespace {

struct Found {
  std::string name;
  std::uint32_t flags = 0;
};

int on_attribute(const nlattr* attribute, void* out) {
  auto& found = *static_cast<Found*>(out);
  if (mnl_attr_get_type(attribute) == NFTA_TABLE_NAME)
    found.name = mnl_attr_get_str(attribute);
  else if (mnl_attr_get_type(attribute) == NFTA_TABLE_FLAGS)
    found.flags = ntohl(mnl_attr_get_u32(attribute));
  return MNL_CB_OK;
}

int on_table(const nlmsghdr* message, void* out) {
  Found found;
  const auto* head = static_cast<const nfgenmsg*>(mnl_nlmsg_get_payload(message));
  const int parsed = mnl_attr_parse(message, sizeof(nfgenmsg), on_attribute, &found);
  if (parsed >= 0 && (found.flags & NFT_TABLE_F_DORMANT) != 0)
    static_cast<std::vector<std::string>*>(out)->push_back(
        std::string(table_family_name(head->nfgen_family)) + ' ' + found.name);
  return parsed;
}

}  // namespace

Result<std::vector<std::string>> dormant_tables() {
  std::vector<std::string> dormant;
  if (const Status read = dump_nftables(NFT_MSG_GETTABLE, "the tables", on_table, &dormant); !read)
    return fail(read.error());
  return dormant;
}

}  // namespace bulkhead::enforcement
