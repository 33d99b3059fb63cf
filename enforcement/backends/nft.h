// nftables of one place: a network namespace of this machine (libnftables) or a remote host (`ssh
// HOST nft`). The only way by which bulkhead changes or reads a ruleset.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "policy/support/result.h"

namespace bulkhead::enforcement {

class Nft {
 public:
  virtual ~Nft() = default;
  // One transaction: all of `text` or nothing. The error has nft's own message.
  virtual Status load(const std::string& text) = 0;
  // Same checks by the kernel, nothing is changed.
  virtual Status check(const std::string& text) = 0;
  // `nft -j list ruleset`. A listing that fails or is not complete JSON is an error, never "no
  // rules".
  virtual Result<std::string> list_json() = 0;
  // nf_tables generation (NFT_MSG_GETGEN); 0 where it cannot be known.
  virtual Result<std::uint32_t> generation() = 0;
};

// "" is the caller's own namespace. Enters the namespace on a thread of its own: the caller's is
// never changed.
[[nodiscard]] std::unique_ptr<Nft> netns_nft(std::string netns_path);
// `prefix` comes before every remote command: "sudo -n " where ssh does not log in as root.
[[nodiscard]] std::unique_ptr<Nft> ssh_nft(std::vector<std::string> ssh_command,
                                           std::string destination, std::string prefix = {});

}  // namespace bulkhead::enforcement
