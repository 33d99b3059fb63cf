#include "enforcement/backends/nft_library.h"

#include <nftables/libnftables.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mutex>
#include <string_view>

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

Result<std::string> finished(nft_ctx* context, int status) {
  if (status != 0)
    return fail(ErrorKind::Environment, shortened(nft_ctx_get_error_buffer(context)));
  return std::string(nft_ctx_get_output_buffer(context));
}

// The text as a file that nothing has to clean up.
UniqueFd in_memory(const std::string& text) {
  UniqueFd file(::memfd_create("ruleset", MFD_CLOEXEC));
  std::string_view left = text;
  while (file && !left.empty()) {
    const ssize_t wrote = ::write(file.get(), left.data(), left.size());
    if (wrote <= 0)
      return {};
    left.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return file;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
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
  return finished(context.get(), nft_run_cmd_from_buffer(context.get(), command.c_str()));
}

Error why_not_loaded(const std::string& text, const std::string& name, const Error& first) {
  const std::lock_guard lock(library_lock());
  const Context context(nft_ctx_new(NFT_CTX_DEFAULT));
  const UniqueFd file = in_memory(text);
  if (!context || !file)
    return first;
  nft_ctx_buffer_output(context.get());
  nft_ctx_buffer_error(context.get());
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  const auto again =
      finished(context.get(), nft_run_cmd_from_filename(context.get(), path.c_str()));
  if (again)
    return first;
  const std::string& message = again.error().message;
  const bool is_kernels = message.find("Could not process rule") != std::string::npos ||
                          message.find(path + ":") == std::string::npos;
  return {is_kernels ? ErrorKind::Environment : ErrorKind::Usage, replaced(message, path, name)};
}

}  // namespace bulkhead::enforcement
