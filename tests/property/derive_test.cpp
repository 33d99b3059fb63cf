// derive() against the plainest reading of the policy: for each pair of classes and each packet,
// look at every flow.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "policy/date.h"
#include "policy/matrix.h"

namespace bulkhead::policy {
namespace {

constexpr std::uint16_t kPorts = 6;  // ports 1..6 of tcp and udp
const Date kAsOf = *parse_date("2026-12-01");

AddressSet addresses(std::initializer_list<const char*> texts) {
  AddressSet out;
  for (const char* text : texts)
    out.add({*Address::parse(text), *Address::parse(text)});
  return out;
}

// Every kind of class, and families that do not meet.
Universe universe() {
  Universe out;
  using K = ClassKind;
  out.classes = {
      {"both", K::Endpoint, "s1", "t", "", {"x"}, addresses({"10.0.0.1", "fd00::1"})},
      {"enforcer:fw", K::Enforcer, "fw", "", "", {}, addresses({"10.0.0.9"})},
      {"external:w", K::External, "w", "", "", {}, addresses({"8.8.8.8"})},
      {"ib", K::Partition, "ib", "t", "", {}, {}},
      {"s1", K::Endpoint, "s1", "t", "", {}, addresses({"10.0.0.2"})},
      {"s1!spare", K::Spare, "s1", "", "", {}, addresses({"10.0.0.3"})},
      {"six", K::Endpoint, "s2", "u", "", {}, addresses({"fd00::6"})},
  };
  out.enforcers = {"fw"};
  return out;
}

Selector selector(int which) {
  using W = Selector::What;
  switch (which) {
    case 0:
      return {W::Any, "", "", {}};
    case 1:
      return {W::Segment, "s1", "", {}};
    case 2:
      return {W::Segment, "s1", "x", {}};
    case 3:
      return {W::Segment, "s2", "", {}};
    case 4:
      return {W::Tenant, "t", "", {}};
    case 5:
      return {W::AnyTenant, "", "", {}};
    case 6:
      return {W::Enforcer, "fw", "", {}};
    case 7:
      return {W::External, "w", "", {}};
    case 8:
      return {W::Partition, "ib", "", {}};
    default:
      return {W::Unresolved, "?", "", {}};
  }
}

Flow any_flow(int number) {
  Flow flow;
  flow.id = "F" + std::to_string(number);
  for (std::vector<Selector>* side : {&flow.from, &flow.to})
    for (const int which :
         *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 10)).as("selectors"))
      side->push_back(selector(which));
  for (const int service : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4)))
    flow.services.push_back({"v" + std::to_string(service), {}});
  flow.action = *rc::gen::element(Action::Allow, Action::Deny);
  flow.both_ways = *rc::gen::arbitrary<bool>();
  if (*rc::gen::inRange(0, 4) == 0)
    flow.expires = *rc::gen::element(*parse_date("2026-11-30"), kAsOf, *parse_date("2027-01-01"));
  return flow;
}

Service any_service(int number) {
  Service service;
  service.name = "v" + std::to_string(number);
  for (const Kind kind : {Kind::Tcp, Kind::Udp}) {
    PortSet ports;
    for (const auto& [first, length] : *rc::gen::container<std::vector<std::pair<int, int>>>(
             2, rc::gen::pair(rc::gen::inRange(1, 7), rc::gen::inRange(0, 4))))
      ports.add({static_cast<std::uint16_t>(first),
                 static_cast<std::uint16_t>(std::min<int>(first + length, kPorts))});
    if (*rc::gen::arbitrary<bool>())
      service.terms.push_back({{kind, 0, {}}, ports});
  }
  if (*rc::gen::arbitrary<bool>())
    service.terms.push_back({{Kind::Icmp, 0, {}}, PortSet{{0, 2}}});
  if (*rc::gen::arbitrary<bool>())
    service.terms.push_back({{Kind::Ib, 0, {}}, PortSet{{0, 0}}});
  return service;
}

bool names(const std::vector<Selector>& selectors, const Universe& all, ClassId id) {
  return std::any_of(selectors.begin(), selectors.end(), [&](const Selector& one) {
    const Class& cls = all.classes[id];
    if (cls.kind == ClassKind::Spare)
      return false;
    switch (one.what) {
      case Selector::What::Any:
        return true;
      case Selector::What::Segment:
        return cls.kind == ClassKind::Endpoint && cls.place == one.name &&
               (one.label.empty() || (!cls.labels.empty() && cls.labels[0] == one.label));
      case Selector::What::Partition:
        return cls.kind == ClassKind::Partition && cls.place == one.name;
      case Selector::What::Tenant:
        return cls.tenant == one.name;
      case Selector::What::AnyTenant:
        return !cls.tenant.empty();
      case Selector::What::Enforcer:
        return cls.kind == ClassKind::Enforcer;
      case Selector::What::External:
        return cls.kind == ClassKind::External;
      case Selector::What::Unresolved:
        return false;
    }
    return false;
  });
}

bool can_run(const Class& from, const Class& to, Kind kind, std::uint16_t port) {
  const auto has = [](const Class& cls, Family family) {
    return !of_family(cls.addresses, family).empty();
  };
  const bool v4 = has(from, Family::V4) && has(to, Family::V4);
  const bool v6 = has(from, Family::V6) && has(to, Family::V6);
  if (kind == Kind::Ib)
    return from.kind == ClassKind::Partition && to.kind == ClassKind::Partition;
  if (kind == Kind::Icmp && port > 0)
    return v4;
  return v4 || v6;
}

struct Verdict {
  std::optional<Action> action;
  std::vector<std::string> rules;
};

Verdict plainly(const Policy& policy, const Universe& all, ClassId from, ClassId to, Kind kind,
                std::uint16_t port) {
  std::set<std::string> allows, denies;
  for (const Flow& flow : policy.flows) {
    if (flow.expires && std::chrono::sys_days(*flow.expires) < std::chrono::sys_days(kAsOf))
      continue;
    const bool there = names(flow.from, all, from) && names(flow.to, all, to);
    const bool back = flow.both_ways && names(flow.from, all, to) && names(flow.to, all, from);
    if (!there && !back)
      continue;
    for (const Name& service : flow.services)
      for (const Traffic& term : policy.services.at(service.text).terms)
        if (term.key.kind == kind && term.ports.contains(port))
          (flow.action == Action::Allow ? allows : denies).insert(flow.id);
  }
  const ClassKind own = all.classes[from].kind;
  const bool alone = from == to && (own == ClassKind::External || own == ClassKind::Enforcer);
  if (alone || !can_run(all.classes[from], all.classes[to], kind, port))
    return {};
  if (!denies.empty())
    return {Action::Deny, {denies.begin(), denies.end()}};
  if (!allows.empty())
    return {Action::Allow, {allows.begin(), allows.end()}};
  return {};
}

Verdict derived(const Matrix& matrix, ClassId from, ClassId to, Kind kind, std::uint16_t port) {
  const Cell* cell = matrix.find(from, to);
  if (cell)
    for (const Piece& piece : cell->pieces)
      if (piece.key.kind == kind && piece.ports.contains(port))
        return {piece.action, piece.rules};
  return {};
}

RC_GTEST_PROP(Derive, SaysWhatTheFlowsSay, ()) {
  const Universe all = universe();
  Policy policy;
  for (int number = 0; number < 4; ++number) {
    Service service = any_service(number);
    policy.services.emplace(service.name, std::move(service));
  }
  const int flows = *rc::gen::inRange(0, 8);
  for (int number = 0; number < flows; ++number)
    policy.flows.push_back(any_flow(number));

  const Matrix matrix = derive(policy, all, kAsOf);
  for (ClassId from = 0; from < all.classes.size(); ++from)
    for (ClassId to = 0; to < all.classes.size(); ++to)
      for (const Kind kind : {Kind::Tcp, Kind::Udp, Kind::Icmp, Kind::Ib})
        for (std::uint16_t port = 0; port <= kPorts + 1; ++port) {
          const Verdict expected = plainly(policy, all, from, to, kind, port);
          const Verdict found = derived(matrix, from, to, kind, port);
          RC_ASSERT(found.action == expected.action);
          RC_ASSERT(found.rules == expected.rules);
        }
}

RC_GTEST_PROP(Derive, IsInNormalFormWhateverTheOrderOfFlows, ()) {
  const Universe all = universe();
  Policy policy;
  for (int number = 0; number < 4; ++number) {
    Service service = any_service(number);
    policy.services.emplace(service.name, std::move(service));
  }
  for (int number = 0; number < 6; ++number)
    policy.flows.push_back(any_flow(number));
  const Matrix matrix = derive(policy, all, kAsOf);
  for (const Cell& cell : matrix.cells) {
    RC_ASSERT(!cell.pieces.empty());
    for (std::size_t i = 1; i < cell.pieces.size(); ++i) {
      const Piece& before = cell.pieces[i - 1];
      const Piece& next = cell.pieces[i];
      RC_ASSERT(before.key < next.key ||
                (before.key == next.key && before.ports.last < next.ports.first));
      const bool mergeable = before.key == next.key && before.action == next.action &&
                             before.rules == next.rules &&
                             before.ports.last + 1 == next.ports.first;
      RC_ASSERT(!mergeable);
    }
  }
  std::reverse(policy.flows.begin(), policy.flows.end());
  const Matrix again = derive(policy, all, kAsOf);
  RC_ASSERT(again.cells.size() == matrix.cells.size());
  for (std::size_t i = 0; i < matrix.cells.size(); ++i)
    RC_ASSERT(again.cells[i].pieces == matrix.cells[i].pieces);
}

}  // namespace
}  // namespace bulkhead::policy
