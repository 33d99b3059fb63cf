#include "enforcement/backends/nft_backend.h"

#include <nftables/libnftables.h>

#include "enforcement/backends/netns_thread.h"
#include "enforcement/backends/nft.h"
#include "enforcement/backends/nft_library.h"
#include "enforcement/ruleset_index.h"

namespace bulkhead::enforcement {

namespace {

class NftBackend final : public Backend {
 public:
  explicit NftBackend(std::string netns_path)
      : netns_path_(std::move(netns_path)), nft_(netns_nft(netns_path_)) {}

  // A listing is several questions to the kernel; the generation on both sides of them tells
  // whether they were asked of one ruleset.
  Result<Snapshot> read() override {
    constexpr int kAttempts = 5;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const auto before = nft_->generation();
      if (!before)
        return fail(before.error());
      auto listing = list_netns(netns_path_);
      if (!listing)
        return fail(listing.error());
      const auto after = nft_->generation();
      if (!after)
        return fail(after.error());
      if (*before != *after)
        continue;
      auto digests = digest_ruleset(listing->json);
      if (!digests)
        return fail(digests.error());
      return Snapshot{digests->ours.empty() ? kNothing : digests->ours, digests->foreign, *after,
                      std::move(*listing)};
    }
    return fail(ErrorKind::Environment,
                "somebody else changes rules all the time: nothing stands "
                "still long enough to be read");
  }

  Result<std::string> undo(const Snapshot& snapshot) override {
    std::string text = no_table();
    if (snapshot.ours != kNothing) {
      auto listed = list_table();
      if (!listed)
        return fail(listed.error());
      text += *listed;
    }
    const auto now = nft_->generation();
    if (!now)
      return fail(now.error());
    if (*now != snapshot.generation)
      return fail(ErrorKind::Environment, "the rules changed while they were read");
    if (Status checked = check(text); !checked)
      return fail(
          checked.error().context("the rules that are loaded now could not be brought "
                                  "back, so nothing was changed"));
    return text;
  }

  Status check(const std::string& change) override { return nft_->check(change); }
  Status apply(const std::string& change) override { return nft_->load(change); }

  Result<std::vector<Connection>> connections() override {
    Result<std::vector<Connection>> found;
    const Status entered = run_in_netns(netns_path_, [&]() -> Status {
      found = list_connections();
      return {};
    });
    if (!entered)
      return fail(entered.error());
    return found;
  }
  Status cut(const std::vector<Connection>& connections) override {
    return run_in_netns(netns_path_, [&] { return delete_connections(connections); });
  }

 private:
  // Without counters: packets counted before a change are not counted again after its undo.
  Result<std::string> list_table() {
    Result<std::string> listed;
    const Status entered = run_in_netns(netns_path_, [&]() -> Status {
      listed = run_nft("list table inet bulkhead", false, NFT_CTX_OUTPUT_STATELESS);
      return {};
    });
    if (!entered)
      return fail(entered.error());
    return listed;
  }

  std::string netns_path_;
  std::unique_ptr<Nft> nft_;
};

}  // namespace

std::unique_ptr<Backend> nft_backend(std::string netns_path) {
  return std::make_unique<NftBackend>(std::move(netns_path));
}

std::string no_table() {
  return "table inet bulkhead\ndelete table inet bulkhead\n";
}

}  // namespace bulkhead::enforcement
