#include "enforcement/boot.h"

#include <fmt/format.h>

#include "enforcement/backends/nft_backend.h"
#include "enforcement/nft_target.h"
#include "enforcement/recover.h"

namespace bulkhead::enforcement {

namespace {

// The text that was proven once. What the kernel lists of it is what it listed then, or, by another
// version of it or of nft, is proven anew.
Status load_last(Backend& backend, const Journal& journal, const Generation& last) {
  const auto target = target_of(journal, last);
  if (!target)
    return fail(target.error());
  if (Status applied = backend.apply(target->change); !applied)
    return applied;
  const auto now = backend.read();
  if (!now)
    return fail(now.error());
  if (now->ours == last.after)
    return {};
  const auto proof = prove(*target, *now);
  return proof.state == compiler::proof::MemberProof::State::Equal
             ? Status()
             : fail(ErrorKind::Environment, proof.reason);
}

Result<Booted> closed(Backend& backend, const std::string& why) {
  if (Status loaded = backend.apply(fail_closed_table()); !loaded)
    return fail(loaded.error().context(why + "; nor could the closed table be loaded"));
  return Booted{Booted::What::FailClosed, why + ": nothing is forwarded now"};
}

}  // namespace

Result<Booted> boot(Backend& backend, const std::filesystem::path& state) {
  std::error_code error;
  if (!std::filesystem::exists(state / "generations", error) && !error)
    return Booted{Booted::What::NothingApplied, "nothing was applied here"};
  auto journal = Journal::open(state);
  if (!journal)
    return closed(backend, journal.error().message);
  (void)recover(backend, *journal);  // what stays unfinished is told by the next verb
  const auto last = journal->last_confirmed();
  if (!last)
    return closed(backend, last.error().message);
  if (!*last)
    return Booted{Booted::What::NothingApplied, "nothing that was applied here was confirmed"};
  if (Status loaded = load_last(backend, *journal, **last); !loaded)
    return closed(backend, fmt::format("generation {} does not load: {}", (*last)->number,
                                       loaded.error().message));
  return Booted{Booted::What::Generation,
                fmt::format("generation {} is in force", (*last)->number)};
}

// Neighbour discovery (RFC 4861) has hop limit 255 and no connection.
std::string fail_closed_table() {
  return no_table() + R"(table inet bulkhead {
  chain forward {
    type filter hook forward priority filter; policy drop;
  }
  chain input {
    type filter hook input priority filter; policy drop;
    iifname "lo" accept
    ct state established,related accept
    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, nd-router-advert } ip6 hoplimit 255 accept
  }
}
)";
}

}  // namespace bulkhead::enforcement
