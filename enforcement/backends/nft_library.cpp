#include "enforcement/backends/nft_library.h"

#include <nftables/libnftables.h>

#include <mutex>

#include "policy/support/handle.h"

namespace bulkhead::enforcement {

namespace {

using Context = Handle<nft_ctx, &nft_ctx_free>;

// libnftables 1.0.6 keeps its interface cache in a global: two contexts at work at once would
// race.
std::mutex& library_lock() {
  static std::mutex lock;
  return lock;
}

// nft quotes the offending line and puts a caret under it; a line of 100,000 elements helps nobody.
std::string shortened(std::string message) {
  constexpr std::size_t kMost = 2000;
  while (!message.empty() && message.back() == '\n')
    message.pop_back();
  if (message.size() > kMost)
    message = message.substr(0, kMost) + "...";
  return message.empty() ? "nft failed without a message" : message;
}

}  // namespace

Result<std::string> run_nft(const std::string& command, bool dry_run, unsigned output_flags) {
  const std::lock_guard lock(library_lock());
  const Context context(nft_ctx_new(NFT_CTX_DEFAULT));
  if (!context)
    return fail(ErrorKind::Environment, "libnftables gave no context");
  nft_ctx_set_dry_run(context.get(), dry_run);
  nft_ctx_output_set_flags(context.get(), output_flags);
  nft_ctx_buffer_output(context.get());
  nft_ctx_buffer_error(context.get());
  if (nft_run_cmd_from_buffer(context.get(), command.c_str()) != 0)
    return fail(ErrorKind::Environment, shortened(nft_ctx_get_error_buffer(context.get())));
  return std::string(nft_ctx_get_output_buffer(context.get()));
}

}  // namespace bulkhead::enforcement
