#include "enforcement/backends/nft_listing.h"

#include <fcntl.h>
#include <nftables/libnftables.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "enforcement/backends/nft_library.h"
#include "enforcement/backends/nft_rule_loads.h"
#include "enforcement/backends/nft_tables.h"
#include "policy/support/handle.h"

namespace bulkhead::enforcement {

namespace {

// The child answers on a pipe: a letter of what follows, then one or more fields, each ended by a
// zero byte.
constexpr char kListing = 'L', kFailure = 'F';

struct Child {
  pid_t pid = -1;
  UniqueFd answer, complaint;
};

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

[[noreturn]] void be_child(int answer, int complaint,
                           const std::function<Result<NftListing>()>& work) {
  // libnftables may read for ever (`include "/dev/zero"`): not longer than who waits for it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(complaint, STDERR_FILENO);
  const auto listing = work();
  std::string text;
  const auto field = [&](std::string_view content) { text.append(content).push_back('\0'); };
  if (listing) {
    text += kListing;
    field(listing->json);
    field(listing->loads);
    field(listing->text);
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
    // A signal that somebody catches is meant to end the work: libnftables may never come back.
    if (::poll(ends.data(), ends.size(), -1) < 0)
      return errno == EINTR ? fail(ErrorKind::Interrupted, "interrupted while nft read the ruleset")
                            : fail_errno("wait for the listing", errno);
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

Result<NftListing> list_in_child(const std::function<Result<NftListing>()>& work) {
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
    return fail_errno("start a child to list rules", errno);
  if (child.pid == 0)
    be_child(answer_in.get(), complaint_in.get(), work);
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
  NftListing listing;
  if (fields.size() < 3)
    return fail(ErrorKind::Environment, "half a listing came back");
  listing.json = fields[0];
  listing.loads = fields[1];
  listing.text = fields[2];
  listing.dormant.assign(fields.begin() + 3, fields.end());
  return listing;
}

Result<NftListing> list_ruleset(bool with_text) {
  NftListing listing;
  auto loads = rule_loads();
  if (!loads)
    return fail(loads.error());
  listing.loads = std::move(*loads);
  auto json = run_nft("list ruleset", false, NFT_CTX_OUTPUT_JSON | NFT_CTX_OUTPUT_HANDLE);
  if (!json)
    return fail(json.error().context("list the ruleset"));
  listing.json = std::move(*json);
  if (!with_text)
    return listing;
  auto text = run_nft("list ruleset", false, NFT_CTX_OUTPUT_HANDLE);
  if (!text)
    return fail(text.error().context("list the ruleset"));
  listing.text = std::move(*text);
  return listing;
}

Result<NftListing> list_netns(const std::string& netns_path) {
  return list_in_child([&]() -> Result<NftListing> {
    if (!netns_path.empty()) {
      const UniqueFd netns(::open(netns_path.c_str(), O_RDONLY | O_CLOEXEC));
      if (!netns || ::setns(netns.get(), CLONE_NEWNET) != 0)
        return fail_errno("enter network namespace " + netns_path, errno);
    }
    const auto dormant = dormant_tables();
    if (!dormant)
      return fail(dormant.error());
    if (!dormant->empty())
      return fail(ErrorKind::Environment, "table " + dormant->front() +
                                              " is dormant, and nft 1.0.6 breaks its JSON listing "
                                              "over that: wake it up or delete it");
    return list_ruleset();
  });
}

}  // namespace bulkhead::enforcement
