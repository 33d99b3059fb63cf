// The operator's hand on the enforcers of a path: arms traces, tells one ruleset from another, and
// gives a traced rule its name.
#include <netinet/in.h>

#include "enforcement/ruleset_index.h"
#include "enforcement/trace_table.h"
#include "scenarios/audit.h"

namespace bulkhead::scenarios {

namespace {

using compiler::Transport;

std::uint8_t protocol_of(const probes::Expected& expected) {
  switch (expected.transport) {
    case Transport::Udp:
      return IPPROTO_UDP;
    case Transport::Icmp:
      if (expected.tuple.from.family == Family::V4)
        return IPPROTO_ICMP;
      return IPPROTO_ICMPV6;
    case Transport::Raw:
      return static_cast<std::uint8_t>(expected.tuple.port);
    case Transport::Tcp:
      break;
  }
  return IPPROTO_TCP;
}

class NftWatch final : public probes::PathWatch {
 public:
  NftWatch(std::map<std::string, std::unique_ptr<enforcement::Nft>> by_member,
           std::function<bool(const compiler::Probe&)> route_is_absent)
      : route_is_absent_(std::move(route_is_absent)) {
    for (auto& [name, nft] : by_member)
      members_[name].nft = std::move(nft);
  }

  Status arm(const std::vector<probes::Expected>& tries) override {
    std::vector<enforcement::TracedTuple> tuples;
    tuples.reserve(tries.size());
    for (const auto& expected : tries)
      tuples.push_back({protocol_of(expected), expected.tuple.from, expected.tuple.sport,
                        expected.tuple.to, expected.tuple.port});
    return load_everywhere(enforcement::trace_table_text(tuples), "arm traces");
  }

  Status disarm() override {
    return load_everywhere(enforcement::trace_table_removal(), "remove the trace table");
  }

  bool route_is_absent(const compiler::Probe& probe) override { return route_is_absent_(probe); }

  // Listing is dear, asking for the generation is not. A generation that only our own trace table
  // moved (exactly one step, known before and after) stands for the same ruleset.
  Result<std::string> mark(const std::string& name) override {
    const auto found = members_.find(name);
    if (found == members_.end())
      return fail(ErrorKind::Environment, "nobody watches the ruleset of " + name);
    Member& member = found->second;
    const auto generation = member.nft->generation();
    if (!generation)
      return fail(generation.error().context(name));
    if (member.listed_at == *generation && *generation != 0)
      return member.index.digest;
    return list(name, member);
  }

  void name_rule(probes::Evidence& evidence) override {
    const auto member = members_.find(evidence.agent);
    if (member == members_.end() || evidence.handle == 0)
      return;
    const auto comment =
        member->second.index.comments.find({evidence.table, evidence.chain, evidence.handle});
    if (comment != member->second.index.comments.end())
      evidence.rule = comment->second;
  }

 private:
  struct Member {
    std::unique_ptr<enforcement::Nft> nft;
    std::uint32_t listed_at = 0;  // generation that `index` describes; 0: none known
    enforcement::RulesetIndex index;
  };

  // A listing is of one ruleset only if the generation stood still meanwhile.
  static Result<std::string> list(const std::string& name, Member& member) {
    constexpr int kAttempts = 3;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const auto before = member.nft->generation();
      const auto listing = member.nft->list_json();
      const auto after = member.nft->generation();
      if (!before || !listing || !after)
        return fail((!before    ? before.error()
                     : !listing ? listing.error()
                                : after.error())
                        .context("read the ruleset of " + name));
      if (*before != *after)
        continue;
      auto index = enforcement::index_ruleset(*listing);
      if (!index)
        return fail(index.error().context("read the ruleset of " + name));
      member.index = std::move(*index);
      member.listed_at = *after;
      return member.index.digest;
    }
    return fail(ErrorKind::Environment,
                "the ruleset of " + name + " changes faster than it can be listed");
  }

  Status load_everywhere(const std::string& text, const std::string& purpose) {
    for (auto& [name, member] : members_) {
      const auto before = member.nft->generation();
      if (Status loaded = member.nft->load(text); !loaded)
        return fail(loaded.error().context(purpose + " on " + name));
      const auto after = member.nft->generation();
      const bool only_ours =
          before && after && *before == member.listed_at && *before != 0 && *after == *before + 1;
      member.listed_at = only_ours ? *after : 0;
    }
    return {};
  }

  std::map<std::string, Member> members_;
  std::function<bool(const compiler::Probe&)> route_is_absent_;
};

}  // namespace

std::unique_ptr<probes::PathWatch> nft_watch(
    std::map<std::string, std::unique_ptr<enforcement::Nft>> by_member,
    std::function<bool(const compiler::Probe&)> route_is_absent) {
  return std::make_unique<NftWatch>(std::move(by_member), std::move(route_is_absent));
}

}  // namespace bulkhead::scenarios
