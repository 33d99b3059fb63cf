#include "cli/support/query_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/support/find_class.h"
#include "cli/support/terminal.h"
#include "compiler/proof/value_type.h"

namespace bulkhead::cli {
namespace {

namespace proof = compiler::proof;
using proof::CtState;
using proof::Question;
using proof::Value;
using proof::ValueRange;

tl::unexpected<Error> wrong(std::string_view what, std::string_view value, std::string_view want) {
  return fail(ErrorKind::Usage, fmt::format("{} `{}`: {}", what, printable(value), want));
}

std::vector<std::string_view> items(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (comma > 0)
      out.push_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

std::optional<AddressRange> range_of(std::string_view text) {
  if (const auto prefix = Prefix::parse(text))
    return prefix->range();
  if (const auto address = Address::parse(text))
    return AddressRange{*address, *address};
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos)
    return std::nullopt;
  const auto first = Address::parse(text.substr(0, dash));
  const auto last = Address::parse(text.substr(dash + 1));
  if (!first || !last || first->family != last->family || *last < *first)
    return std::nullopt;
  return AddressRange{*first, *last};
}

AddressSet addresses_of(const compiler::Host& host) {
  std::vector<AddressRange> all;
  for (const compiler::Nic& nic : host.nics) {
    for (const Address& address : nic.v4)
      all.push_back({address, address});
    for (const Address& address : nic.v6)
      all.push_back({address, address});
  }
  return AddressSet::from(std::move(all));
}

std::optional<std::uint16_t> number(std::string_view text) {
  std::uint16_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

Status read_sports(const std::vector<std::string>& list, std::vector<ValueRange>& out) {
  for (const std::string& text : list) {
    const std::size_t dash = text.find('-');
    const auto first = number(std::string_view(text).substr(0, dash));
    const auto last =
        dash == std::string::npos ? first : number(std::string_view(text).substr(dash + 1));
    if (!first || !last || *last < *first)
      return wrong("--sport", text, "ports are numbers from 0 to 65535, and ranges of them");
    out.push_back({*first, *last});
  }
  return {};
}

Status read_protocols(const std::vector<std::string>& list, std::vector<ValueRange>& out) {
  for (const std::string& text : list) {
    const auto value = proof::read_word(proof::ValueType::Protocol, text);
    if (!value || *value > 255)
      return wrong("--proto", text, "say tcp, udp, icmp, icmpv6, gre, ... or a number up to 255");
    out.push_back({*value, *value});
  }
  return {};
}

Status read_traffic(const Settings& settings, Question& out) {
  using policy::Kind;
  const Kind kind = settings.traffic->kind;
  const auto ports = [&](Value protocol, std::uint16_t first, std::uint16_t last) {
    out.protocols = {{protocol, protocol}};
    out.ports = {{first, last}};
  };
  switch (kind) {
    case Kind::Tcp:
      ports(6, settings.port, settings.last_port);
      break;
    case Kind::Udp:
      ports(17, settings.port, settings.last_port);
      break;
    case Kind::Sctp:
      ports(132, settings.port, settings.last_port);
      break;
    case Kind::Roce:
      ports(17, policy::kRocePort, policy::kRocePort);
      break;
    case Kind::Icmp: {
      const policy::IcmpQuery& query = policy::kIcmpQueries[settings.port];
      if (query.v4_type)
        out.icmp4 = {{*query.v4_type, *query.v4_type}};
      if (query.v6_type)
        out.icmp6 = {{*query.v6_type, *query.v6_type}};
      break;
    }
    case Kind::Ip:
      out.protocols = {{settings.traffic->protocol, settings.traffic->protocol}};
      if (settings.traffic->group)
        out.to = AddressSet{{*settings.traffic->group, *settings.traffic->group}};
      break;
    case Kind::Dhcp:
    case Kind::Ib:
    case Kind::GpuDirect:
      return fail(ErrorKind::Usage, "`query` wants --tcp, --udp, --sctp, --icmp, --roce or --ip");
  }
  return {};
}

Status read_state(const std::string& text, Question& out) {
  struct Row {
    std::string_view name;
    std::optional<CtState> state;
    bool is_reply;
  };
  static constexpr Row kRows[] = {{"", CtState::New, false},
                                  {"new", CtState::New, false},
                                  {"established", CtState::Established, false},
                                  {"reply", CtState::Established, true},
                                  {"related", CtState::Related, false},
                                  {"invalid", CtState::Invalid, false},
                                  {"untracked", CtState::Untracked, false},
                                  {"any", std::nullopt, false}};
  for (const Row& row : kRows)
    if (row.name == text) {
      out.state = row.state;
      out.is_reply = row.is_reply;
      return {};
    }
  return wrong("--state", text, "say new, established, reply, related, invalid, untracked or any");
}

Status read_hook(const std::string& text, Question& out) {
  for (const proof::Passage passage : proof::kPassages)
    if (text.empty() ? passage == proof::Passage::Forward : proof::to_string(passage) == text) {
      out.passage = passage;
      return {};
    }
  return wrong("--hook", text, "say forward, input or output");
}

bool is_enforcer(std::string_view text, const compiler::Site& site,
                 const compiler::EnforcerView& view) {
  if (const auto named = site.matrix.universe.id_of(text))
    return *named == view.self;
  const auto range = range_of(text);
  return range &&
         site.matrix.universe.classes[view.self].addresses.contains(AddressSet::from({*range}));
}

// What is sent to the enforcer itself, or by it, never comes to the forward hook.
std::string hook_of(const Settings& settings, const compiler::Site* site,
                    const compiler::EnforcerView* view) {
  if (site != nullptr && view != nullptr) {
    if (is_enforcer(settings.to, *site, *view))
      return "input";
    if (is_enforcer(settings.from, *site, *view))
      return "output";
  }
  return {};
}

bool is_address_or_host(const compiler::Site& site, std::string_view text) {
  return range_of(text) || site.inventory.hosts.contains(std::string(text));
}

// The legs of classes, where the text names nothing else.
std::vector<std::string> legs_of(std::string_view text, const compiler::Site* site,
                                 const compiler::EnforcerView* view) {
  std::vector<std::string> out;
  if (site == nullptr || view == nullptr)
    return out;
  for (const std::string_view item : items(text)) {
    if (!site->matrix.universe.id_of(item) && is_address_or_host(*site, item))
      return {};
    const auto found = find_classes(*site, item);
    for (const Found& one : found ? *found : std::vector<Found>()) {
      const auto binding =
          std::find_if(view->bindings.begin(), view->bindings.end(),
                       [&](const compiler::LegBinding& known) { return known.cls == one.cls; });
      if (binding == view->bindings.end())
        return {};
      if (std::find(out.begin(), out.end(), binding->interface) == out.end())
        out.push_back(binding->interface);
    }
  }
  return out;
}

}  // namespace

Result<AddressSet> find_addresses(std::string_view text, const compiler::Site* site) {
  if (text.empty() || text == "any")
    return AddressSet{};
  AddressSet out;
  for (const std::string_view item : items(text)) {
    if (const auto range = range_of(item)) {
      out.add(*range);
      continue;
    }
    if (site == nullptr)
      return wrong("address", item,
                   "say an address, a prefix or a range; names need a site: site:DIR or --site");
    const auto host = site->inventory.hosts.find(std::string(item));
    if (!site->matrix.universe.id_of(item) && host != site->inventory.hosts.end()) {
      out = out | addresses_of(host->second);
      continue;
    }
    const auto found = find_classes(*site, item);
    if (!found)
      return fail(found.error());
    for (const Found& one : *found)
      out = out | site->matrix.universe.classes[one.cls].addresses;
  }
  if (out.empty())
    return wrong("address", text, "it has no address");
  return out;
}

const compiler::EnforcerView* find_view(const compiler::Site* site, std::string_view name) {
  if (site == nullptr)
    return nullptr;
  const auto& views = site->coverage.views;
  if (name.empty())
    return views.size() == 1 ? &views.front() : nullptr;
  const auto view =
      std::find_if(views.begin(), views.end(),
                   [&](const compiler::EnforcerView& known) { return known.enforcer == name; });
  return view == views.end() ? nullptr : &*view;
}

Result<Question> question_of(const Settings& settings, const compiler::Site* site,
                             const compiler::EnforcerView* view) {
  Question out;
  const std::string hook = settings.hook.empty() ? hook_of(settings, site, view) : settings.hook;
  if (Status read = read_hook(hook, out); !read)
    return fail(read.error());
  if (Status read = read_state(settings.state, out); !read)
    return fail(read.error());
  auto from = find_addresses(settings.from, site);
  if (!from)
    return fail(from.error());
  out.from = std::move(*from);
  auto to = find_addresses(settings.to, site);
  if (!to)
    return fail(to.error());
  out.to = std::move(*to);
  if (settings.traffic && !settings.proto.empty())
    return fail(ErrorKind::Usage, "one question at a time: --proto, or --tcp, --udp, --icmp, ...");
  if (settings.traffic)
    if (Status read = read_traffic(settings, out); !read)
      return fail(read.error());
  if (Status read = read_protocols(settings.proto, out.protocols); !read)
    return fail(read.error());
  if (Status read = read_sports(settings.sport, out.source_ports); !read)
    return fail(read.error());
  out.in = !settings.in.empty() || out.passage == proof::Passage::Output
               ? settings.in
               : legs_of(settings.from, site, view);
  out.out = !settings.out.empty() || out.passage == proof::Passage::Input
                ? settings.out
                : legs_of(settings.to, site, view);
  return out;
}

}  // namespace bulkhead::cli
