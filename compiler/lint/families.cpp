// A family that somebody forgot: what is open or closed to one of them only.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/lint/passing.h"
#include "compiler/proof/portion.h"

namespace bulkhead::compiler::lint {

namespace {

using namespace proof;

// Protocols that both families have.
constexpr Value kTcp = 6, kUdp = 17, kSctp = 132;

// Which ports of which protocols somebody can reach, whoever and wherever.
Diagram services(Context& context, Diagram packets) {
  Diagrams& space = context.space;
  packets = space.intersect(
      packets, space.in(Field::Protocol, {{kTcp, kTcp}, {kUdp, kUdp}, {kSctp, kSctp}}));
  std::vector<Field> asked = space.asked(packets);
  std::sort(asked.begin(), asked.end());
  for (auto field = asked.rbegin(); field != asked.rend(); ++field)
    if (*field != Field::Protocol && *field != Field::DestinationPort)
      packets = space.exists(packets, *field);
  return packets;
}

std::string words(Context& context, Diagram only) {
  const Diagram ports =
      context.space.in(Field::Protocol, {{kTcp, kTcp}, {kUdp, kUdp}, {kSctp, kSctp}});
  const Portion portion = proof::portion(context.space, only, ports, Naming(nullptr), 4);
  return portion.is_all ? "tcp, udp and sctp to any port" : to_string(portion);
}

void hook(Context& context, Passage passage, Findings& out) {
  const Hook at = passage == Passage::Forward ? Hook::Forward : Hook::Input;
  const std::string place = fmt::format("the {} hook", to_string(at));
  const auto v4 = filters(context.ruleset, TableFamily::Ip, at);
  const auto v6 = filters(context.ruleset, TableFamily::Ip6, at);
  if (v4.empty() && v6.empty())
    return;
  if (v4.empty() || v6.empty()) {
    add(out, "family-forgotten", Severity::Error, place,
        fmt::format("no filter chain meets {} packets there: all of them pass",
                    v6.empty() ? "IPv6" : "IPv4"),
        "say the rules in an inet table, or in a table of the other family too");
    return;
  }
  Diagrams& space = context.space;
  const HookPackets& packets = at_hook(context, passage);
  const Diagram is_new = in_state(context, CtState::New);
  const auto of = [&](Diagram set, Family family) {
    return services(context,
                    space.intersect(space.intersect(set, is_new), of_family(context, family)));
  };
  const Diagram open4 = of(packets.passes, Family::V4), open6 = of(packets.passes, Family::V6);
  const Diagram shut4 = of(packets.stops, Family::V4), shut6 = of(packets.stops, Family::V6);
  const Diagram nothing = space.nothing();
  const auto tell = [&](Severity severity, std::string what) {
    add(out, "family-forgotten", severity, place, std::move(what),
        "say the rules for both families, or note that one is not used");
  };
  if (shut4 != nothing && shut6 == nothing)
    tell(Severity::Error, "rules stop IPv4 packets, and no rule ever stops an IPv6 packet");
  else if (shut6 != nothing && shut4 == nothing)
    tell(Severity::Error, "rules stop IPv6 packets, and no rule ever stops an IPv4 packet");
  else if (context.options.has_policy)
    return;
  else if (open4 != nothing && open6 == nothing)
    tell(Severity::Warning, "rules let IPv4 connections pass, and none of IPv6");
  else if (open6 != nothing && open4 == nothing)
    tell(Severity::Warning, "rules let IPv6 connections pass, and none of IPv4");
  else if (const Diagram only6 = space.subtract(open6, open4); only6 != nothing)
    tell(Severity::Warning,
         fmt::format("open in IPv6 and nowhere in IPv4: {}", words(context, only6)));
  else if (const Diagram only4 = space.subtract(open4, open6); only4 != nothing)
    tell(Severity::Warning,
         fmt::format("open in IPv4 and nowhere in IPv6: {}", words(context, only4)));
}

}  // namespace

void families(Context& context, Findings& out) {
  hook(context, Passage::Forward, out);
  hook(context, Passage::Input, out);
}

}  // namespace bulkhead::compiler::lint
