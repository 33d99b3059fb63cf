#include "cli/support/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>

#include "policy/date.h"
#include "policy/support/diagnostic.h"

namespace bulkhead::cli {
namespace {

Status wrong(std::string_view what, std::string_view value, std::string_view want) {
  return fail(ErrorKind::Usage, fmt::format("{} `{}`: {}", what, printable(value), want));
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    return std::nullopt;
  return value;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) {
    if (!part.empty())
      parts.push_back(part);
  }
  return parts;
}

Status set_as_of(Settings& settings, const std::string& value) {
  settings.as_of = policy::parse_date(value);
  if (!settings.as_of)
    return wrong("--as-of", value, "a day that exists, written 2026-12-31");
  return {};
}

Status set_color(Settings& settings, const std::string& value) {
  if (value == "auto") {
    settings.color = ColorChoice::Auto;
  } else if (value == "always") {
    settings.color = ColorChoice::Always;
  } else if (value == "never") {
    settings.color = ColorChoice::Never;
  } else {
    return wrong("--color", value, "say auto, always or never");
  }
  return {};
}

Status set_on(Settings& settings, const std::string& value) {
  if (value == "lab") {
    settings.on = scenarios::Where::Lab;
  } else if (value == "live") {
    settings.on = scenarios::Where::Live;
  } else {
    return wrong("--on", value, "say lab or live");
  }
  return {};
}

Status set_run(Settings& settings, const std::string& value) {
  // The run becomes part of the names of namespaces.
  const bool fits =
      !value.empty() && value.size() <= 12 && std::all_of(value.begin(), value.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
      });
  if (!fits)
    return wrong("--run", value, "a run's name has 1 to 12 characters of a-z and 0-9");
  settings.run = value;
  return {};
}

Status set_seed(Settings& settings, const std::string& value) {
  const auto seed = number<std::uint64_t>(value);
  if (!seed)
    return wrong("--seed", value, "a seed is a number from 0 to 18446744073709551615");
  settings.seed = *seed;
  return {};
}

Status set_timeout(Settings& settings, const std::string& value) {
  const bool minutes = value.ends_with('m');
  std::string_view digits = value;
  if (minutes || value.ends_with('s'))
    digits.remove_suffix(1);
  const auto amount = number<std::uint32_t>(digits);
  if (!amount || *amount == 0 || *amount > 1'000'000)
    return wrong("--timeout", value, "a time is written 90, 90s or 5m");
  settings.timeout = minutes ? std::chrono::minutes(*amount) : std::chrono::seconds(*amount);
  return {};
}

void append(std::vector<std::string>& list, const std::string& value) {
  for (std::string& part : split(value, ','))
    list.push_back(std::move(part));
}

Status set_fail_on(Settings& settings, const std::string& value) {
  using probes::Finding;
  static constexpr std::pair<std::string_view, Finding> kNames[] = {
      {"leak", Finding::Leak},
      {"outage", Finding::Outage},
      {"inconclusive", Finding::Inconclusive},
      {"silent", Finding::Silent},
      {"not-covered", Finding::NotCovered}};
  std::vector<std::string_view> known;
  std::transform(std::begin(kNames), std::end(kNames), std::back_inserter(known),
                 [](const auto& row) { return row.first; });
  for (const std::string& name : split(value, ',')) {
    const auto* const row = std::find_if(std::begin(kNames), std::end(kNames),
                                         [&](const auto& r) { return r.first == name; });
    if (row == std::end(kNames)) {
      const std::string hint = did_you_mean(name, known);
      return wrong("--fail-on", name,
                   hint.empty() ? "say leak, outage, inconclusive, silent or not-covered" : hint);
    }
    settings.fail_on.push_back(row->second);
  }
  return {};
}

Status set_fail_on_changes(Settings& settings, const std::string& value) {
  if (value != "opened" && value != "closed" && value != "any")
    return wrong("--fail-on", value, "say opened, closed or any");
  settings.fail_on_opened = value != "closed";
  settings.fail_on_closed = value != "opened";
  return {};
}

Status set_min_coverage(Settings& settings, const std::string& value) {
  const auto percent = number<std::uint32_t>(value);
  if (!percent || *percent > 100)
    return wrong("--min-coverage", value, "say a percentage, 0 to 100");
  settings.min_coverage = *percent;
  return {};
}

Status ask(Settings& settings, policy::Kind kind, std::uint16_t port) {
  if (settings.traffic)
    return fail(ErrorKind::Usage, "one question at a time: name one of --tcp, --udp, --icmp, ...");
  settings.traffic = policy::TrafficKey{kind, 0, std::nullopt};
  settings.port = settings.last_port = port;
  return {};
}

template <policy::Kind kind>
Status ask_port(Settings& settings, const std::string& value) {
  const std::size_t dash = value.find('-');
  const auto port = number<std::uint16_t>(std::string_view(value).substr(0, dash));
  const auto last =
      dash == std::string::npos ? port : number<std::uint16_t>(value.substr(dash + 1));
  if (!port || *port == 0 || !last || *last < *port)
    return wrong("port", value, "a port is a number from 1 to 65535");
  if (*last != *port) {
    if (Status asked = ask(settings, kind, *port); !asked)
      return asked;
    settings.last_port = *last;
    return {};
  }
  if (kind == policy::Kind::Udp && *port == policy::kRocePort)
    return ask(settings, policy::Kind::Roce, 0);  // UDP 4791 is RoCEv2 wherever it is asked for
  return ask(settings, kind, *port);
}

template <policy::Kind kind>
Status ask_kind(Settings& settings, const std::string&) {
  return ask(settings, kind, 0);
}

Status ask_icmp(Settings& settings, const std::string& value) {
  std::string names;
  for (std::uint16_t row = 0; row < std::size(policy::kIcmpQueries); ++row) {
    if (policy::kIcmpQueries[row].name == value)
      return ask(settings, policy::Kind::Icmp, row);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", policy::kIcmpQueries[row].name);
  }
  return wrong("--icmp", value, "known are: " + names);
}

Status ask_ip(Settings& settings, const std::string& value) {
  const std::string_view text = value;
  const std::size_t slash = text.find('/');
  const auto protocol = number<std::uint8_t>(text.substr(0, slash));
  if (!protocol)
    return wrong("--ip", value, "an IP protocol is a number from 0 to 255");
  if (Status asked = ask(settings, policy::Kind::Ip, 0); !asked)
    return asked;
  settings.traffic->protocol = *protocol;
  if (slash == std::string_view::npos)
    return {};
  settings.traffic->group = Address::parse(text.substr(slash + 1));
  if (!settings.traffic->group)
    return wrong("--ip", value, "a group is an address: 112/224.0.0.18");
  return {};
}

template <std::string Settings::*member>
Status set_text(Settings& settings, const std::string& value) {
  settings.*member = value;
  return {};
}
template <bool Settings::*member>
Status set_switch(Settings& settings, const std::string&) {
  settings.*member = true;
  return {};
}
template <std::vector<std::string> Settings::*member>
Status add_list(Settings& settings, const std::string& value) {
  append(settings.*member, value);
  return {};
}
Status set_output(Settings& settings, const std::string& value) {
  settings.output = value == "-" ? "" : value;  // as other programs have it: stdout
  return {};
}
Status set_evidence(Settings& settings, const std::string& value) {
  if (value == "-")
    return wrong("--evidence", value, "name a file: stdout is for the answer");
  settings.evidence = value;
  return {};
}
Status set_ssh(Settings& settings, const std::string& value) {
  settings.ssh = split(value, ' ');
  return {};
}

using policy::Kind;
constexpr Option kOptions[] = {
    {"as-of", 0, "DATE", "the day on which expiry is judged; default: today", set_as_of},
    {"on", 0, "lab|live", "network namespaces on this machine, or the real hosts by ssh", set_on},
    {"ruleset", 0, "FILE", "an nft file, or the output of `nft -j list ruleset`",
     set_text<&Settings::ruleset>},
    {"enforcer", 0, "NAME", "only this one of a site; whose place a file or a host takes",
     set_text<&Settings::enforcer>},
    {"enforcer", 0, "NAME", "only this one; whose place --ruleset takes",
     set_text<&Settings::enforcer>, "prove"},
    {"ignore", 0, "LIST", "codes of findings that are not told, and do not fail",
     add_list<&Settings::ignore>},
    {"verify", 0, "", "prove what the kernel lists, too", set_switch<&Settings::verify>},
    {"site", 0, "DIR", "the policy whose classes and services give names",
     set_text<&Settings::site>},
    {"probes", 0, "FILE", "write the example packets as a probe plan, for `probe --plan`",
     set_text<&Settings::probes>},
    {"plan", 0, "FILE", "send only these: a plan as `prove --probes` or `compile` write it",
     set_text<&Settings::plan>},
    {"live", 0, "", "what the enforcers have loaded now, by ssh", set_switch<&Settings::live>},
    {"from", 0, "CLASS", "who opens the connection", set_text<&Settings::from>},
    {"to", 0, "CLASS", "who listens", set_text<&Settings::to>},
    {"from", 0, "LIST", "source addresses, prefixes, ranges; of a site classes and hosts, too",
     set_text<&Settings::from>, "query"},
    {"to", 0, "LIST", "destinations, in the same way", set_text<&Settings::to>, "query"},
    {"hook", 0, "HOOK", "forward, input or output; default: forward", set_text<&Settings::hook>},
    {"in", 0, "LIST", "interfaces that the packets come in by", add_list<&Settings::in>},
    {"out", 0, "LIST", "interfaces that they leave by", add_list<&Settings::out>},
    {"state", 0, "STATE",
     "new, established, reply, related, invalid, untracked or any; default: new",
     set_text<&Settings::state>},
    {"proto", 0, "LIST", "protocols by name or number, any port", add_list<&Settings::proto>},
    {"sport", 0, "LIST", "source ports and ranges", add_list<&Settings::sport>},
    {"expect", 0, "pass|block", "exit 1 where not all of it does", set_text<&Settings::expect>},
    {"tcp", 0, "PORT", "the flow in question", ask_port<Kind::Tcp>},
    {"udp", 0, "PORT", "", ask_port<Kind::Udp>},
    {"sctp", 0, "PORT", "", ask_port<Kind::Sctp>},
    {"icmp", 0, "QUERY", "echo, timestamp or address-mask", ask_icmp},
    {"ip", 0, "PROTOCOL", "an IP protocol by its number; to a group: 112/224.0.0.18", ask_ip},
    {"dhcp", 0, "", "", ask_kind<Kind::Dhcp>},
    {"roce", 0, "", "RoCEv2 (UDP 4791)", ask_kind<Kind::Roce>},
    {"ib", 0, "", "verbs over InfiniBand", ask_kind<Kind::Ib>},
    {"run", 0, "NAME", "name of this run (default: made up), or of the lab meant", set_run},
    {"seed", 0, "N", "chooses hosts, ports and order of probes; default: 1", set_seed},
    {"timeout", 0, "TIME", "give up after this time (90, 90s, 5m): exit 4", set_timeout},
    {"include", 0, "TAG", "only these: class, segment, tenant, transport, family, rule",
     add_list<&Settings::include>},
    {"exclude", 0, "TAG", "and not these", add_list<&Settings::exclude>},
    {"include", 0, "ID", "only these faults", add_list<&Settings::include>, "faults"},
    {"exclude", 0, "ID", "and not these", add_list<&Settings::exclude>, "faults"},
    {"fail-on", 0, "LIST", "findings that exit 1; default: leak,outage (a leak always does)",
     set_fail_on},
    {"fail-on", 0, "KIND", "opened, closed or any: which changes exit 1; default: any",
     set_fail_on_changes, "diff"},
    {"min-coverage", 0, "PERCENT", "exit 4 where fewer cells are decided; default: the site's",
     set_min_coverage},
    {"agent", 0, "PROGRAM", "default: bulkhead-agent, in a lab the one beside this program",
     set_text<&Settings::agent>},
    {"ssh", 0, "COMMAND", "how live hosts are reached; default: ssh -oBatchMode=yes ...", set_ssh},
    {"sudo", 0, "", "live: run agent, nft and ip by `sudo -n`, where ssh is not root's",
     set_switch<&Settings::sudo>},
    {"format", 0, "FORMAT", "", set_text<&Settings::format>},
    {"output", 'o', "PATH", "write the answer there, whole or not at all; default: stdout",
     set_output},
    {"output", 'o', "DIR", "the folder to write, whole or not at all", set_output, "compile"},
    {"evidence", 0, "PATH", "write what every end saw of every try there, a JSON line each",
     set_evidence},
    {"quiet", 'q', "", "on stderr errors alone; the answer still goes to stdout",
     set_switch<&Settings::quiet>},
    {"verbose", 'v', "", "all lines, none summed up", set_switch<&Settings::verbose>},
    {"color", 0, "WHEN", "auto, always or never; NO_COLOR is obeyed", set_color},
};

}  // namespace

std::span<const Option> options() {
  return kOptions;
}

const Option* find_option(std::string_view name, std::string_view verb) {
  const auto find = [&](std::string_view whose) {
    return std::find_if(std::begin(kOptions), std::end(kOptions), [&](const Option& option) {
      return option.name == name && option.verb == whose;
    });
  };
  const auto* row = find(verb);
  if (row == std::end(kOptions))
    row = find({});
  return row == std::end(kOptions) ? nullptr : row;
}

}  // namespace bulkhead::cli
