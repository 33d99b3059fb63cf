#include "enforcement/backends/nft_sandbox.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <nftables/libnftables.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "enforcement/backends/nft_library.h"
#include "enforcement/backends/nft_rule_loads.h"
#include "enforcement/backends/nft_tables.h"
#include "policy/support/handle.h"

namespace bulkhead::enforcement {

namespace {

// A child works in the namespace, and not a thread: a process with threads cannot make a user
// namespace, and nft may end its process (nft_library.h). It answers on a pipe: a letter of what
// follows, then one or more fields, each ended by a zero byte.
constexpr char kListing = 'L', kFailure = 'F';

struct Child {
  pid_t pid = -1;
  UniqueFd answer, complaint;
};

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

// As taps: they need no kernel module that a machine with nf_tables may lack.
Status make_interface(const std::string& name, std::vector<UniqueFd>& taps) {
  UniqueFd tap(::open("/dev/net/tun", O_RDWR | O_CLOEXEC));
  if (!tap)
    return fail_errno("open /dev/net/tun to make interface " + name, errno);
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

Result<SandboxListing> work(const std::string& nft_text,
                            const std::vector<std::string>& interfaces) {
  bool in_user_namespace = false;
  if (const Status entered = enter_new_namespace(in_user_namespace); !entered)
    return fail(entered.error().context("a throw-away namespace is needed to read a ruleset"));
  std::vector<UniqueFd> taps;
  for (const std::string& name : interfaces)
    if (name != "lo")
      if (const Status made = make_interface(name, taps); !made)
        return fail(made.error());
  if (const auto loaded = run_nft(nft_text, false, 0); !loaded) {
    Error error = loaded.error().context("the ruleset does not load");
    if (in_user_namespace && error.message.find("Message too long") != std::string::npos)
      error.message +=
          "\nIt is too large for a user namespace: run this with CAP_NET_ADMIN (as root).";
    return fail(error);
  }
  SandboxListing listing;
  const auto dormant = dormant_tables();
  if (!dormant)
    return fail(dormant.error());
  for (const std::string& table : *dormant) {
    if (const auto removed = run_nft("delete table " + table, false, 0); !removed)
      return fail(removed.error().context("take out dormant table " + table));
    listing.dormant.push_back(table);
  }
  auto loads = rule_loads();
  if (!loads)
    return fail(loads.error());
  listing.loads = std::move(*loads);
  auto json = run_nft("list ruleset", false, NFT_CTX_OUTPUT_JSON | NFT_CTX_OUTPUT_HANDLE);
  if (!json)
    return fail(json.error().context("list the ruleset"));
  listing.json = std::move(*json);
  return listing;
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote <= 0)
      return;  // the parent is gone
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

[[noreturn]] void be_child(int answer, int complaint, const std::string& nft_text,
                           const std::vector<std::string>& interfaces) {
  ::dup2(complaint, STDERR_FILENO);
  const auto listing = work(nft_text, interfaces);
  std::string text;
  const auto field = [&](std::string_view content) { text.append(content).push_back('\0'); };
  if (listing) {
    text += kListing;
    field(listing->json);
    field(listing->loads);
    for (const std::string& table : listing->dormant)
      field(table);
  } else {
    text += kFailure;
    field(std::to_string(static_cast<int>(listing.error().kind)));
    field(listing.error().message);
  }
  write_all(answer, text);
  ::_exit(0);
}

// Both pipes to their ends: a child that fills one while the other is read would wait forever.
Status read_both(const Child& child, std::string& answer, std::string& complaint) {
  std::array<pollfd, 2> ends{{{child.answer.get(), POLLIN, 0}, {child.complaint.get(), POLLIN, 0}}};
  std::array<std::string*, 2> texts{&answer, &complaint};
  std::array<char, 65536> buffer;
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (::poll(ends.data(), ends.size(), -1) < 0) {
      if (errno == EINTR)
        continue;
      return fail_errno("wait for the sandbox", errno);
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0)
        continue;
      const ssize_t got = ::read(ends[i].fd, buffer.data(), buffer.size());
      if (got > 0)
        texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
      else if (got == 0 || errno != EINTR)
        ends[i].fd = -1;
    }
  }
  return {};
}

std::vector<std::string> fields_of(std::string_view text) {
  std::vector<std::string> fields;
  while (!text.empty()) {
    const auto end = text.find('\0');
    fields.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return fields;
}

}  // namespace

Result<SandboxListing> list_in_sandbox(const std::string& nft_text,
                                       const std::vector<std::string>& interfaces) {
  std::array<int, 2> answer_ends, complaint_ends;
  if (::pipe2(answer_ends.data(), O_CLOEXEC) != 0)
    return fail_errno("make a pipe", errno);
  Child child;
  child.answer = UniqueFd(answer_ends[0]);
  UniqueFd answer_in(answer_ends[1]);
  if (::pipe2(complaint_ends.data(), O_CLOEXEC) != 0)
    return fail_errno("make a pipe", errno);
  child.complaint = UniqueFd(complaint_ends[0]);
  UniqueFd complaint_in(complaint_ends[1]);

  child.pid = ::fork();
  if (child.pid < 0)
    return fail_errno("start the sandbox", errno);
  if (child.pid == 0)
    be_child(answer_in.get(), complaint_in.get(), nft_text, interfaces);
  answer_in.reset();
  complaint_in.reset();

  std::string answer, complaint;
  const Status read = read_both(child, answer, complaint);
  if (!read)
    ::kill(child.pid, SIGKILL);
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!read)
    return fail(read.error());
  const auto fields = fields_of(std::string_view(answer).substr(answer.empty() ? 0 : 1));
  const bool whole = !answer.empty() && answer.back() == '\0' && !fields.empty();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !whole)
    return fail(ErrorKind::Environment, "nft failed over this ruleset and ended: " +
                                            complaint.substr(0, complaint.find('\n')));
  if (answer.front() == kFailure)
    return fail(static_cast<ErrorKind>(fields[0][0] - '0'), fields.size() > 1 ? fields[1] : "");
  SandboxListing listing;
  if (fields.size() < 2)
    return fail(ErrorKind::Environment, "the sandbox gave half an answer");
  listing.json = fields[0];
  listing.loads = fields[1];
  listing.dormant.assign(fields.begin() + 2, fields.end());
  return listing;
}

}  // namespace bulkhead::enforcement
