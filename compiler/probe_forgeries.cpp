#include "compiler/probe_forgeries.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/probe_choice.h"

namespace bulkhead::compiler {
namespace {

using policy::Class;
using policy::ClassId;
using policy::ClassKind;

constexpr std::size_t kMost = 1500;  // about a round

class Forger {
 public:
  Forger(const Site& site, const Representatives& who, std::uint16_t port, std::uint64_t seed)
      : site_(site), who_(who), port_(port), seed_(seed) {}

  std::vector<Forgery> run() {
    for (const EnforcerView& view : site_.coverage.views) {
      for (const LegBinding& sender : view.bindings) {
        if (!stands_at(view, sender))
          continue;
        for (const LegBinding& claimed : view.bindings) {
          if (claimed.interface != sender.interface)
            pairs_.push_back({&view, &sender, &claimed});
        }
      }
    }
    for (const Pair& pair : pairs_) {
      if (pairs_.size() <= kMost || draw(pair, 0) % pairs_.size() < kMost)
        forge(pair);
    }
    return std::move(forgeries_);
  }

 private:
  struct Pair {
    const EnforcerView* view;
    const LegBinding* sender;
    const LegBinding* claimed;
  };

  [[nodiscard]] const std::vector<Class>& classes() const { return site_.matrix.universe.classes; }
  [[nodiscard]] const ProbeEnd& end_of(EndId end) const { return who_.ends()[end]; }
  [[nodiscard]] std::uint64_t draw(const Pair& pair, ClassId to) const {
    return mixed(seed_ ^ mixed(pair.sender->cls ^ mixed(pair.claimed->cls ^ mixed(to))));
  }

  // In the very segment of the leg, so that a frame of the class's hosts gets there.
  [[nodiscard]] bool stands_at(const EnforcerView& view, const LegBinding& binding) const {
    const Class& cls = classes()[binding.cls];
    const auto enforcer = site_.inventory.enforcers.find(view.enforcer);
    if (enforcer == site_.inventory.enforcers.end() || enforcer->second.members.empty())
      return false;
    return std::any_of(
        enforcer->second.legs.begin(), enforcer->second.legs.end(), [&](const Leg& leg) {
          if (leg.interface != binding.interface)
            return false;
          const auto& place = cls.kind == ClassKind::External ? leg.external : leg.segment;
          return cls.kind != ClassKind::Behind && place && place->text == cls.place;
        });
  }

  void forge(const Pair& pair) {
    std::vector<ClassId> destinations;
    for (ClassId to = 0; to < classes().size(); ++to) {
      const auto& coverage = site_.coverage.at(pair.sender->cls, to);
      // Without a route there the kernel gives the packet up before any rule sees it.
      if (to != pair.sender->cls && coverage.cause == Cause::Rule && !coverage.path.empty() &&
          coverage.path.front() == pair.view->enforcer)
        destinations.push_back(to);
    }
    const std::size_t most = std::max<std::size_t>(1, kMost / pairs_.size());
    if (destinations.size() > most) {
      std::stable_sort(destinations.begin(), destinations.end(),
                       [&](ClassId a, ClassId b) { return draw(pair, a) < draw(pair, b); });
      destinations.resize(most);
    }
    for (const ClassId to : destinations) {
      for (const Family family : kFamilies)
        forge_one(pair, to, family);
    }
  }

  void forge_one(const Pair& pair, ClassId to, Family family) {
    std::string why;
    for (const EndId sender : who_.sources(pair.sender->cls, to, family, why)) {
      const auto targets = who_.targets(to, family, sender, why);
      if (targets.empty())
        continue;
      const std::string& target = end_of(targets.front()).host;
      const auto& all = who_.all(pair.claimed->cls, family);
      const auto claimed = std::find_if(all.begin(), all.end(), [&](EndId end) {
        return end_of(end).host != target && end_of(end).host != end_of(sender).host;
      });
      if (claimed == all.end())
        return;
      forgeries_.push_back({.sender = sender,
                            .claimed = *claimed,
                            .to = targets.front(),
                            .shot = {.transport = Transport::Udp,
                                     .port = port_for(pair.claimed->cls, to),
                                     .size = kSmallPayload,
                                     .expect = Expect::Deny,
                                     .rule = std::string(kRuleSpoofed)},
                            .enforcer = pair.view->enforcer,
                            .leg = {member_of(*pair.view), pair.sender->interface}});
      return;
    }
  }

  [[nodiscard]] std::uint16_t port_for(ClassId claimed, ClassId to) const {
    const policy::Cell* cell = site_.matrix.find(claimed, to);
    for (const policy::Piece& piece : cell ? cell->pieces : std::vector<policy::Piece>{}) {
      if (piece.key.kind == policy::Kind::Udp && piece.action == policy::Action::Allow &&
          piece.ports.first != policy::kRocePort && piece.ports.first != 0)
        return piece.ports.first;
    }
    return port_;
  }

  [[nodiscard]] const std::string& member_of(const EnforcerView& view) const {
    return site_.inventory.enforcers.at(view.enforcer).members.front();
  }

  const Site& site_;
  const Representatives& who_;
  std::uint16_t port_;
  std::uint64_t seed_;
  std::vector<Pair> pairs_;
  std::vector<Forgery> forgeries_;
};

}  // namespace

std::vector<Forgery> forgeries(const Site& site, const Representatives& who, std::uint16_t port,
                               std::uint64_t seed) {
  return Forger(site, who, port, seed).run();
}

}  // namespace bulkhead::compiler
