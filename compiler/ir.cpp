#include "compiler/ir.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "compiler/disjoint.h"
#include "compiler/ir_roce.h"
#include "compiler/ir_service_sets.h"
#include "compiler/ir_zones.h"

namespace bulkhead::compiler::ir {

namespace {

using policy::Cell;
using policy::ClassId;
using policy::Kind;
using policy::Piece;

constexpr Index kNowhere = kAnyLeg - 1;  // a class that this enforcer does not see

bool is_ethernet(const Piece& piece) {  // what a rule can match, RoCE apart
  return piece.key.kind != Kind::Ib && piece.key.kind != Kind::GpuDirect &&
         piece.key.kind != Kind::Roce;
}

// The families of a pair matter only where one name stands for a different match in each.
Families relevant_families(const std::vector<const Piece*>& pieces, Families both) {
  const bool differs = std::any_of(pieces.begin(), pieces.end(), [](const Piece* piece) {
    return piece->key.kind == Kind::Icmp || piece->key.kind == Kind::Dhcp;
  });
  return differs ? both : Families{0};
}

class Builder {
 public:
  Builder(const Site& site, const EnforcerView& view)
      : site_(site),
        view_(view),
        classes_(site.matrix.universe.classes),
        sets_(out_.sets, out_.made_pieces) {}

  Enforcer build() {
    out_.name = view_.enforcer;
    out_.digest = site_.policy_digest;
    make_legs();
    make_sources();
    for (const Cell& cell : site_.matrix.cells)
      take(cell);
    finish_destinations();
    roce_.finish(classes_, source_of_, leg_of_, out_);
    std::vector<std::string> vrfs;
    for (Index leg = 0; leg < out_.legs.size(); ++leg)
      vrfs.push_back(vrf_of(leg));
    number_zones(vrfs, out_.legs);
    std::sort(out_.link_needs.begin(), out_.link_needs.end(), [](const auto& a, const auto& b) {
      // Denies first: 0.0.0.0 and fe80:: are of no class, so an allow cannot be told from them.
      const auto key = [](const LinkNeed& n) {
        return std::tuple(n.leg, n.inbound, n.family, n.piece->action != policy::Action::Deny);
      };
      return key(a) != key(b) ? key(a) < key(b) : *a.piece < *b.piece;
    });
    return std::move(out_);
  }

 private:
  // ---- legs and sources

  void make_legs() {
    const auto found = site_.inventory.enforcers.find(view_.enforcer);
    if (found == site_.inventory.enforcers.end())
      return;
    for (const compiler::Leg& fact : found->second.legs)
      facts_.push_back(&fact);
    std::sort(facts_.begin(), facts_.end(),
              [](const auto* a, const auto* b) { return a->interface < b->interface; });
    for (const compiler::Leg* fact : facts_) {
      Leg leg;
      leg.interface = fact->interface;
      leg.vrf_member = fact->vrf.has_value();
      for (const auto& own : {fact->v4, fact->v6}) {
        if (!own)
          continue;
        leg.families |= bit(own->address.family);
        leg.on_link.push_back(own->prefix());
      }
      out_.legs.push_back(std::move(leg));
    }
  }

  Index leg_named(const std::string& interface) const {
    const auto at = std::lower_bound(
        out_.legs.begin(), out_.legs.end(), interface,
        [](const Leg& leg, const std::string& name) { return leg.interface < name; });
    const bool found = at != out_.legs.end() && at->interface == interface;
    return found ? static_cast<Index>(at - out_.legs.begin()) : kNowhere;
  }

  Index add_source(std::string name) {
    out_.sources.push_back({std::move(name), {}, {}});
    claims_.emplace_back();
    return static_cast<Index>(out_.sources.size() - 1);
  }

  void make_sources() {
    leg_of_.assign(classes_.size(), kNowhere);
    source_of_.assign(classes_.size(), kNowhere);
    for (const LegBinding& binding : view_.bindings)
      leg_of_[binding.cls] = leg_named(binding.interface);
    leg_of_[view_.self] = kHere;
    for (ClassId cls = 0; cls < classes_.size(); ++cls)
      if (leg_of_[cls] != kNowhere)
        source_of_[cls] = add_source(classes_[cls].name);
    out_.self = source_of_[view_.self];
    out_.own = classes_[view_.self].addresses.intervals();

    std::vector<std::vector<Claim<Address, Index>>> claims(out_.legs.size());
    for (ClassId cls = 0; cls < classes_.size(); ++cls) {
      if (leg_of_[cls] == kNowhere || leg_of_[cls] == kHere)
        continue;
      out_.legs[leg_of_[cls]].families |= families_of(classes_[cls]);
      for (const AddressRange& range : classes_[cls].addresses)
        claims[leg_of_[cls]].push_back({range, source_of_[cls]});
    }
    const auto& fact = site_.inventory.enforcers.at(view_.enforcer);
    const Cell* among_members = site_.matrix.find(view_.self, view_.self);
    if (fact.members.size() > 1 && among_members != nullptr) {
      // The other member of a pair speaks from the addresses that both hold.
      peer_ = add_source(classes_[view_.self].name + " peer");
      for (Index leg = 0; leg < out_.legs.size(); ++leg)
        for (const auto& own : {facts_[leg]->v4, facts_[leg]->v6})
          if (own)
            claims[leg].push_back({{own->address, own->address}, peer_});
    }
    for (Index leg = 0; leg < out_.legs.size(); ++leg)
      for (auto& claimed : disjoint(std::move(claims[leg])))
        out_.legs[leg].sources.push_back({claimed.range, claimed.values.front()});
  }

  // ---- cells

  bool crosses(const Cell& cell) const {
    if (cell.from == view_.self || cell.to == view_.self)
      return true;
    if (cell.everything && leg_of_[cell.from] != leg_of_[cell.to])
      return true;
    const auto& path = site_.coverage.at(cell.from, cell.to).path;
    return std::find(path.begin(), path.end(), view_.enforcer) != path.end();
  }

  void take(const Cell& cell) {
    if (leg_of_[cell.from] == kNowhere || leg_of_[cell.to] == kNowhere || !crosses(cell))
      return;
    if (cell.from == view_.self && cell.to == view_.self) {
      take_members(cell);
      return;
    }
    const Index source = source_of_[cell.from];
    const Index leg = leg_of_[cell.to];
    const Families both = families_of(classes_[cell.from]) & families_of(classes_[cell.to]);
    std::vector<const Piece*> plain;
    std::map<Address, std::vector<const Piece*>> by_group;
    for (const Piece& piece : cell.pieces) {
      if (piece.key.kind == Kind::Roce)
        roce_.say(cell, piece);
      if (!is_ethernet(piece))
        continue;
      (piece.key.group ? by_group[*piece.key.group] : plain).push_back(&piece);
      take_link(cell, piece, both);
    }
    if (cell.everything || !plain.empty()) {
      const Families families = relevant_families(plain, both);
      const Index set = sets_.intern({cell.everything, families, std::move(plain)});
      for (const AddressRange& range : classes_[cell.to].addresses)
        if (bit(range.first.family) & both)
          claims_[source].push_back({range, Target{leg, set}});
    }
    for (auto& [group, pieces] : by_group) {
      const Index set = sets_.intern({false, 0, std::move(pieces)});
      claims_[source].push_back({{group, group}, Target{leg, set}});
    }
    if (cell.everything)
      roce_.say_open(cell);
  }

  // What members of a pair say to each other: VRRP and the like, to a group on any leg.
  void take_members(const Cell& cell) {
    for (const Piece& piece : cell.pieces) {
      if (piece.key.kind != Kind::Ip || !piece.key.group)
        continue;
      const Index set = sets_.intern({false, 0, {&piece}});
      const AddressRange group{*piece.key.group, *piece.key.group};
      claims_[out_.self].push_back({group, Target{kAnyLeg, set}});
      if (peer_ != kNowhere)
        claims_[peer_].push_back({group, Target{kHere, set}});
      if (piece.key.group->family != Family::V6)
        continue;
      for (Index leg = 0; leg < out_.legs.size(); ++leg)
        for (const bool inbound : {false, true})
          out_.link_needs.push_back({leg, Family::V6, inbound, &piece});
    }
  }

  void take_link(const Cell& cell, const Piece& piece, Families both) {
    if (cell.from != view_.self && cell.to != view_.self)
      return;
    const bool inbound = cell.to == view_.self;
    const Index leg = leg_of_[inbound ? cell.from : cell.to];
    if (piece.key.kind == Kind::Dhcp && inbound) {
      for (const Family family : kFamilies)
        if (bit(family) & both)
          add_need({leg, family, inbound, &piece});
    } else if (piece.key.kind == Kind::Ip && piece.key.group &&
               piece.key.group->family == Family::V6) {
      add_need({leg, Family::V6, inbound, &piece});
    }
  }

  void add_need(const LinkNeed& need) {
    for (LinkNeed& known : out_.link_needs) {
      const bool same = known.leg == need.leg && known.family == need.family &&
                        known.inbound == need.inbound && known.piece->key == need.piece->key &&
                        known.piece->action == need.piece->action;
      if (!same)
        continue;
      if (known.piece->rules != need.piece->rules)
        known.piece = sets_.join(*known.piece, *need.piece);
      return;
    }
    out_.link_needs.push_back(need);
  }

  // ---- disjoint keys

  void finish_destinations() {
    for (Index source = 0; source < out_.sources.size(); ++source) {
      auto claimed = disjoint(std::move(claims_[source]));
      out_.sources[source].destinations.reserve(claimed.size());
      for (auto& [range, targets] : claimed) {
        for (std::size_t i = 1; i < targets.size();) {
          if (targets[i - 1].leg == targets[i].leg) {
            targets[i - 1].set = sets_.join(targets[i - 1].set, targets[i].set);
            targets.erase(targets.begin() + static_cast<std::ptrdiff_t>(i));
          } else {
            ++i;
          }
        }
        out_.sources[source].destinations.push_back({range, std::move(targets)});
      }
    }
  }

  std::string vrf_of(Index leg) const {
    const compiler::Leg& fact = *facts_[leg];
    if (fact.vrf)
      return fact.vrf->text;
    if (!fact.segment)
      return "";
    const auto segment = site_.policy.segments.find(fact.segment->text);
    const bool named = segment != site_.policy.segments.end() && segment->second.vrf;
    return named ? segment->second.vrf->text : "";
  }

  const Site& site_;
  const EnforcerView& view_;
  const std::vector<policy::Class>& classes_;
  Enforcer out_;
  ServiceSets sets_;
  std::vector<const compiler::Leg*> facts_;  // as out_.legs
  std::vector<Index> leg_of_;                // by class
  std::vector<Index> source_of_;             // by class
  Index peer_ = kNowhere;
  std::vector<std::vector<Claim<Address, Target>>> claims_;  // by source
  RocePairs roce_;
};

}  // namespace

Families families_of(const policy::Class& cls) {
  return policy::carriers(cls) & (bit(Family::V4) | bit(Family::V6));
}

Enforcer make_enforcer(const Site& site, const EnforcerView& view) {
  return Builder(site, view).build();
}

}  // namespace bulkhead::compiler::ir
