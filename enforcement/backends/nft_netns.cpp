#include <libmnl/libmnl.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <netinet/in.h>
#include <nftables/libnftables.h>

#include <cerrno>
#include <ctime>
#include <nlohmann/json.hpp>

#include "enforcement/backends/netns_thread.h"
#include "enforcement/backends/nft.h"
#include "enforcement/backends/nft_library.h"
#include "policy/support/handle.h"

namespace bulkhead::enforcement {

namespace {

using MnlSocket = Handle<mnl_socket, [](mnl_socket* socket) { mnl_socket_close(socket); }>;

Result<std::uint32_t> ask_generation() {
  const MnlSocket socket(mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC));
  if (!socket || mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0)
    return fail_errno("open netlink socket for the nf_tables generation", errno);
  alignas(nlmsghdr) char buffer[MNL_NLMSG_HDRLEN + 4096];
  nlmsghdr* message = mnl_nlmsg_put_header(buffer);
  message->nlmsg_type = (NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_GETGEN;
  message->nlmsg_flags = NLM_F_REQUEST;
  const auto sequence = static_cast<std::uint32_t>(std::time(nullptr));
  message->nlmsg_seq = sequence;
  auto* subsystem = static_cast<nfgenmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(nfgenmsg)));
  subsystem->nfgen_family = AF_UNSPEC;
  subsystem->version = NFNETLINK_V0;
  if (mnl_socket_sendto(socket.get(), message, message->nlmsg_len) < 0)
    return fail_errno("ask for the nf_tables generation", errno);
  const ssize_t got = mnl_socket_recvfrom(socket.get(), buffer, sizeof buffer);
  if (got < 0)
    return fail_errno("read the nf_tables generation", errno);
  std::uint32_t generation = 0;
  const auto on_message = [](const nlmsghdr* reply, void* result) {
    const auto on_attribute = [](const nlattr* attribute, void* out) {
      if (mnl_attr_get_type(attribute) == NFTA_GEN_ID)
        *static_cast<std::uint32_t*>(out) = ntohl(mnl_attr_get_u32(attribute));
      return MNL_CB_OK;
    };
    return mnl_attr_parse(reply, sizeof(nfgenmsg), on_attribute, result);
  };
  if (mnl_cb_run(buffer, static_cast<std::size_t>(got), sequence,
                 mnl_socket_get_portid(socket.get()), on_message, &generation) < 0)
    return fail_errno("read the nf_tables generation", errno);
  return generation;
}

class NetnsNft final : public Nft {
 public:
  explicit NetnsNft(std::string netns_path) : netns_path_(std::move(netns_path)) {}

  Status load(const std::string& text) override {
    return run(text, false, 0).map([](auto&&) {});
  }
  Status check(const std::string& text) override {
    return run(text, true, 0).map([](auto&&) {});
  }

  Result<std::string> list_json() override {
    auto listing = run("list ruleset", false, NFT_CTX_OUTPUT_JSON);
    if (listing && !nlohmann::json::accept(*listing))
      return fail(ErrorKind::Environment, "nft's JSON listing is not complete");
    return listing;
  }

  Result<std::uint32_t> generation() override {
    Result<std::uint32_t> generation = 0U;
    const Status entered = run_in_netns(netns_path_, [&]() -> Status {
      generation = ask_generation();
      return {};
    });
    if (!entered)
      return fail(entered.error());
    return generation;
  }

 private:
  Result<std::string> run(const std::string& command, bool dry_run, unsigned output_flags) {
    Result<std::string> output;
    const Status entered = run_in_netns(netns_path_, [&]() -> Status {
      output = run_nft(command, dry_run, output_flags);
      return {};
    });
    if (!entered)
      return fail(entered.error());
    return output;
  }

  std::string netns_path_;
};

}  // namespace

std::unique_ptr<Nft> netns_nft(std::string netns_path) {
  return std::make_unique<NetnsNft>(std::move(netns_path));
}

}  // namespace bulkhead::enforcement
