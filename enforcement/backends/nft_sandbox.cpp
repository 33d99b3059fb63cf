#include "enforcement/backends/nft_sandbox.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "enforcement/backends/nft_library.h"
#include "enforcement/backends/nft_tables.h"
#include "policy/support/handle.h"

namespace bulkhead::enforcement {

namespace {

Status write_file(const char* path, const std::string& text) {
  const UniqueFd file(::open(path, O_WRONLY | O_CLOEXEC));
  if (!file)
    return fail_errno(std::string("open ") + path, errno);
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fail_errno(std::string("write ") + path, errno);
  return {};
}

// True in `in_user_namespace` where the caller had no right of its own.
Status enter_new_namespace(bool& in_user_namespace) {
  in_user_namespace = false;
  if (::unshare(CLONE_NEWNET) == 0)
    return {};
  if (errno != EPERM)
    return fail_errno("make a network namespace", errno);
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
    return fail_errno("make a user and a network namespace", errno);
  in_user_namespace = true;
  return write_file("/proc/self/setgroups", "deny")
      .and_then(
          [&] { return write_file("/proc/self/uid_map", "0 " + std::to_string(user) + " 1"); })
      .and_then(
          [&] { return write_file("/proc/self/gid_map", "0 " + std::to_string(group) + " 1"); });
}

// No file's author has an interface with so high a number. So a rule that names one by its number
// (`iif 2`) does not find one of ours, whose name nft would list in its place.
constexpr unsigned kFirstIndex = 0x40000000;

// As taps: they need no kernel module that a machine with nf_tables may lack.
Status make_interface(const std::string& name, std::vector<UniqueFd>& taps) {
  UniqueFd tap(::open("/dev/net/tun", O_RDWR | O_CLOEXEC));
  if (!tap)
    return fail(ErrorKind::Environment,
                "open /dev/net/tun to make interface " + name + ": " + std::strerror(errno) +
                    ": run this as root, or let this user open /dev/net/tun");
  const unsigned index = kFirstIndex + static_cast<unsigned>(taps.size());
  if (::ioctl(tap.get(), TUNSETIFINDEX, &index) != 0)
    return fail_errno("number interface " + name, errno);
  ifreq request{};
  if (name.empty() || name.size() >= sizeof request.ifr_name)
    return fail(ErrorKind::Usage, "interface name " + name + " has no or too many characters");
  std::memcpy(request.ifr_name, name.data(), name.size());
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (::ioctl(tap.get(), TUNSETIFF, &request) != 0)
    return fail_errno("make interface " + name, errno);
  taps.push_back(std::move(tap));
  return {};
}

Result<NftListing> work(const std::string& nft_text, const std::vector<std::string>& interfaces,
                        const SandboxOptions& options) {
  bool in_user_namespace = false;
  if (const Status entered = enter_new_namespace(in_user_namespace); !entered)
    return fail(entered.error().context("a throw-away namespace is needed to read a ruleset"));
  std::vector<UniqueFd> taps;
  for (const std::string& name : interfaces)
    if (name != "lo")
      if (const Status made = make_interface(name, taps); !made)
        return fail(made.error());
  if (const auto loaded = run_nft(nft_text, false, 0); !loaded) {
    Error error =
        why_not_loaded(nft_text, options.name, loaded.error()).context("the ruleset does not load");
    if (in_user_namespace && error.message.find("Message too long") != std::string::npos)
      error.message +=
          "\nIt is too large for a user namespace: run this with CAP_NET_ADMIN (as root).";
    return fail(error);
  }
  const auto dormant = dormant_tables();
  if (!dormant)
    return fail(dormant.error());
  for (const std::string& table : *dormant)
    if (const auto removed = run_nft("delete table " + table, false, 0); !removed)
      return fail(removed.error().context("take out dormant table " + table));
  auto listing = list_ruleset(options.with_text);
  if (listing)
    listing->dormant = *dormant;
  return listing;
}

}  // namespace

Result<NftListing> list_in_sandbox(const std::string& nft_text,
                                   const std::vector<std::string>& interfaces,
                                   const SandboxOptions& options) {
  return list_in_child([&] { return work(nft_text, interfaces, options); });
}

}  // namespace bulkhead::enforcement
