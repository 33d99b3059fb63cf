#include <nlohmann/json.hpp>

#include "enforcement/backends/nft.h"
#include "enforcement/backends/process.h"

namespace bulkhead::enforcement {

namespace {

// The remote nft decides; ssh's own failure (255) and nft's (1) are both errors with what was
// printed, and an exit status of 0 alone is not believed for a listing.
class SshNft final : public Nft {
 public:
  SshNft(std::vector<std::string> ssh_command, std::string destination, std::string prefix)
      : ssh_command_(std::move(ssh_command)),
        destination_(std::move(destination)),
        prefix_(std::move(prefix)) {}

  Status load(const std::string& text) override {
    return run("nft -f -", text).map([](auto&&) {});
  }
  Status check(const std::string& text) override {
    return run("nft -c -f -", text).map([](auto&&) {});
  }
  Result<std::string> list_json() override {
    auto listing = run("nft -j list ruleset", {});
    // A remote login script may speak first. nft writes its listing as one line.
    constexpr std::string_view kStart = "{\"nftables\"";
    if (listing && !listing->starts_with(kStart)) {
      const std::size_t start = listing->find("\n" + std::string(kStart));
      if (start != std::string::npos)
        listing->erase(0, start + 1);
    }
    if (listing && !nlohmann::json::accept(*listing))
      return fail(ErrorKind::Environment,
                  "list ruleset of " + destination_ + ": nft's JSON listing is not complete");
    return listing;
  }
  // The nft program does not tell it: callers compare listings instead.
  Result<std::uint32_t> generation() override { return 0U; }

 private:
  Result<std::string> run(const std::string& remote_command, std::string_view input) {
    std::vector<std::string> command = ssh_command_;
    // ssh would take a leading dash for an option of its own.
    command.insert(command.end(), {"--", destination_, prefix_ + remote_command});
    auto finished = run_process(command, input);
    if (!finished)
      return fail(finished.error().context(destination_));
    // ssh ends its own lines with a carriage return, too.
    while (finished->err.ends_with('\n') || finished->err.ends_with('\r'))
      finished->err.pop_back();
    if (finished->status != 0)
      return fail(ErrorKind::Environment, destination_ + ": `" + remote_command + "` exited with " +
                                              std::to_string(finished->status) + ": " +
                                              finished->err.substr(0, 2000));
    return std::move(finished->out);
  }

  std::vector<std::string> ssh_command_;
  std::string destination_;
  std::string prefix_;
};

}  // namespace

std::unique_ptr<Nft> ssh_nft(std::vector<std::string> ssh_command, std::string destination,
                             std::string prefix) {
  return std::make_unique<SshNft>(std::move(ssh_command), std::move(destination),
                                  std::move(prefix));
}

}  // namespace bulkhead::enforcement
