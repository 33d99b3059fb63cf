#include "policy/matrix.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>

#include "policy/selections.h"

namespace bulkhead::policy {
namespace {

// One interval of one service, with what can carry it.
struct Term {
  std::uint32_t key = 0;  // index into the sorted keys
  PortRange ports;
  Carriers carriers = 0;
};

struct Terms {
  std::vector<TrafficKey> keys;  // sorted; Term::key orders as the keys do
  std::unordered_map<std::string, std::vector<Term>> by_service;
};

Terms flatten(const std::map<std::string, Service>& services) {
  Terms out;
  for (const auto& [name, service] : services)
    for (const Traffic& traffic : service.terms)
      out.keys.push_back(traffic.key);
  std::sort(out.keys.begin(), out.keys.end());
  out.keys.erase(std::unique(out.keys.begin(), out.keys.end()), out.keys.end());
  for (const auto& [name, service] : services) {
    std::vector<Term>& terms = out.by_service[name];
    for (const Traffic& traffic : service.terms) {
      const auto at = std::lower_bound(out.keys.begin(), out.keys.end(), traffic.key);
      const auto key = static_cast<std::uint32_t>(at - out.keys.begin());
      for (const PortRange& range : traffic.ports) {
        if (traffic.key.kind != Kind::Icmp) {
          terms.push_back({key, range, carriers(traffic.key, range.first)});
          continue;
        }
        // ICMP queries differ in the families that know them, so each row stands alone.
        for (std::uint32_t row = range.first; row <= range.last; ++row) {
          const auto port = static_cast<std::uint16_t>(row);
          terms.push_back({key, {port, port}, carriers(traffic.key, port)});
        }
      }
    }
  }
  return out;
}

// A flow with its names resolved.
struct ActiveFlow {
  const Flow* flow = nullptr;
  std::uint32_t rank = 0;  // among all ids in sorted order
  std::vector<ClassId> from, to;
  std::vector<const std::vector<Term>*> services;
};

bool in_force(const Flow& flow, Date as_of) {
  return !flow.expires || std::chrono::sys_days(*flow.expires) >= std::chrono::sys_days(as_of);
}

std::vector<ActiveFlow> resolve(const Policy& policy, const Universe& universe, const Terms& terms,
                                Date as_of) {
  std::vector<const Flow*> flows;
  flows.reserve(policy.flows.size());
  for (const Flow& flow : policy.flows)
    if (in_force(flow, as_of))
      flows.push_back(&flow);
  std::sort(flows.begin(), flows.end(), [](const Flow* a, const Flow* b) { return a->id < b->id; });

  Selections selections(universe);
  std::vector<ActiveFlow> out;
  out.reserve(flows.size());
  for (const Flow* flow : flows) {
    const auto rank = static_cast<std::uint32_t>(out.size());
    ActiveFlow active{flow, rank, selections.of(flow->from), selections.of(flow->to), {}};
    for (const Name& service : flow->services) {
      const auto found = terms.by_service.find(service.text);
      if (found != terms.by_service.end() && !found->second.empty())
        active.services.push_back(&found->second);
    }
    if (!active.from.empty() && !active.to.empty() && !active.services.empty())
      out.push_back(std::move(active));
  }
  return out;
}

// What one flow says of one cell and one kind of traffic.
struct Entry {
  ClassId to = 0;
  std::uint32_t key = 0;
  PortRange ports;
  std::uint32_t rank = 0;
  auto operator<=>(const Entry&) const = default;
};

// The flows that speak about the current port, with how often (one flow may name a port twice).
class Speakers {
 public:
  explicit Speakers(const std::vector<ActiveFlow>& flows) : flows_(flows) {}
  void enter(std::uint32_t rank) { ++side(rank)[rank]; }
  void leave(std::uint32_t rank) {
    auto& ranks = side(rank);
    const auto at = ranks.find(rank);
    if (--at->second == 0)
      ranks.erase(at);
  }
  [[nodiscard]] bool silent() const { return allows_.empty() && denies_.empty(); }
  [[nodiscard]] Piece piece(const TrafficKey& key, PortRange ports) const {
    const auto& deciding = denies_.empty() ? allows_ : denies_;
    Piece out{key, ports, denies_.empty() ? Action::Allow : Action::Deny, {}};
    out.rules.reserve(deciding.size());
    for (const auto& [rank, times] : deciding)
      out.rules.push_back(flows_[rank].flow->id);
    return out;
  }

 private:
  std::map<std::uint32_t, std::uint32_t>& side(std::uint32_t rank) {
    return flows_[rank].flow->action == Action::Allow ? allows_ : denies_;
  }
  const std::vector<ActiveFlow>& flows_;
  std::map<std::uint32_t, std::uint32_t> allows_, denies_;
};

void append(std::vector<Piece>& pieces, Piece piece) {
  if (!pieces.empty()) {
    Piece& back = pieces.back();
    if (back.key == piece.key && back.action == piece.action && back.rules == piece.rules &&
        back.ports.last + 1 == piece.ports.first) {
      back.ports.last = piece.ports.last;
      return;
    }
  }
  pieces.push_back(std::move(piece));
}

// Cuts the intervals of one cell and key into disjoint pieces: one pass over their ends.
void sweep(std::span<const Entry> entries, const TrafficKey& key,
           const std::vector<ActiveFlow>& flows, std::vector<Piece>& pieces) {
  if (entries.size() == 1) {
    const Flow& flow = *flows[entries[0].rank].flow;
    append(pieces, {key, entries[0].ports, flow.action, {flow.id}});
    return;
  }
  struct Edge {
    std::uint32_t at = 0;  // 32 bits: the port after 65535 is an edge too
    bool enters = false;
    std::uint32_t rank = 0;
  };
  std::vector<Edge> edges;
  edges.reserve(entries.size() * 2);
  for (const Entry& entry : entries) {
    edges.push_back({entry.ports.first, true, entry.rank});
    edges.push_back({entry.ports.last + 1U, false, entry.rank});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  Speakers speakers(flows);
  std::uint32_t begin = 0;
  for (const Edge& edge : edges) {
    if (edge.at != begin && !speakers.silent())
      append(pieces, speakers.piece(key, {static_cast<std::uint16_t>(begin),
                                          static_cast<std::uint16_t>(edge.at - 1)}));
    begin = edge.at;
    edge.enters ? speakers.enter(edge.rank) : speakers.leave(edge.rank);
  }
}

// gpudirect is the fabric flow of roce or ib proven in GPU memory: it falls with its carrier.
void deny_gpudirect_without_fabric(std::vector<Piece>& pieces) {
  const auto is_fabric = [](const Piece& piece) {
    return piece.key.kind == Kind::Roce || piece.key.kind == Kind::Ib;
  };
  const Piece* denied = nullptr;
  for (const Piece& piece : pieces)
    if (is_fabric(piece)) {
      if (piece.action == Action::Allow)
        return;
      denied = &piece;
    }
  if (!denied)
    return;
  for (Piece& piece : pieces)
    if (piece.key.kind == Kind::GpuDirect && piece.action == Action::Allow) {
      piece.action = Action::Deny;
      piece.rules = denied->rules;
    }
}

bool is_open_inside(const Policy& policy, const Class& from, const Class& to) {
  const auto sits = [](const Class& cls) {
    return cls.kind == ClassKind::Endpoint || cls.kind == ClassKind::Behind;
  };
  if (!sits(from) || !sits(to) || from.place != to.place)
    return false;
  const auto segment = policy.segments.find(from.place);
  return segment != policy.segments.end() && segment->second.inside == Inside::Open;
}

// All cells of one row. Row by row, so that memory is bounded by one row however many flows say
// `any`.
class RowDeriver {
 public:
  RowDeriver(const Policy& policy, const Universe& universe, const Terms& terms,
             const std::vector<ActiveFlow>& flows)
      : policy_(policy), universe_(universe), terms_(terms), flows_(flows) {
    for (const Class& cls : universe.classes)
      carriers_.push_back(carriers(cls));
  }

  // `forward` and `reverse`: ranks of the flows whose from (or, both ways, to) holds `from`.
  void derive(ClassId from, std::span<const std::uint32_t> forward,
              std::span<const std::uint32_t> reverse, std::vector<Cell>& cells) {
    entries_.clear();
    for (const std::uint32_t rank : forward)
      collect(from, flows_[rank].to, flows_[rank]);
    for (const std::uint32_t rank : reverse)
      collect(from, flows_[rank].from, flows_[rank]);
    std::sort(entries_.begin(), entries_.end());

    std::size_t next = 0;
    for (ClassId to = 0; to < universe_.classes.size(); ++to) {
      Cell cell{
          from, to, is_open_inside(policy_, universe_.classes[from], universe_.classes[to]), {}};
      while (next < entries_.size() && entries_[next].to == to) {
        std::size_t end = next;
        while (end < entries_.size() && entries_[end].to == to &&
               entries_[end].key == entries_[next].key)
          ++end;
        sweep(std::span(entries_).subspan(next, end - next), terms_.keys[entries_[next].key],
              flows_, cell.pieces);
        next = end;
      }
      deny_gpudirect_without_fabric(cell.pieces);
      if (cell.everything)
        std::erase_if(cell.pieces, [](const Piece& p) { return p.action == Action::Allow; });
      if (cell.everything || !cell.pieces.empty())
        cells.push_back(std::move(cell));
    }
  }

 private:
  void collect(ClassId from, const std::vector<ClassId>& targets, const ActiveFlow& flow) {
    for (const ClassId to : targets) {
      const auto common = static_cast<Carriers>(carriers_[from] & carriers_[to]);
      if (common == 0 || !is_pair(universe_, from, to))
        continue;
      for (const std::vector<Term>* terms : flow.services)
        for (const Term& term : *terms)
          if (term.carriers & common)
            entries_.push_back({to, term.key, term.ports, flow.rank});
    }
  }
  const Policy& policy_;
  const Universe& universe_;
  const Terms& terms_;
  const std::vector<ActiveFlow>& flows_;
  std::vector<Carriers> carriers_;
  std::vector<Entry> entries_;  // kept between rows for its memory
};

}  // namespace

Matrix derive(const Policy& policy, const Universe& universe, Date as_of) {
  Matrix matrix{universe, as_of, {}, {}};
  for (const auto& [name, service] : policy.services)
    matrix.services.push_back(service);

  const Terms terms = flatten(policy.services);
  const std::vector<ActiveFlow> flows = resolve(policy, universe, terms, as_of);
  const std::size_t n = universe.classes.size();
  std::vector<std::vector<std::uint32_t>> forward(n), reverse(n);
  for (const ActiveFlow& active : flows) {
    for (const ClassId from : active.from)
      forward[from].push_back(active.rank);
    if (active.flow->both_ways)
      for (const ClassId to : active.to)
        reverse[to].push_back(active.rank);
  }
  RowDeriver rows(policy, universe, terms, flows);
  for (ClassId from = 0; from < n; ++from)
    rows.derive(from, forward[from], reverse[from], matrix.cells);
  return matrix;
}

const Cell* Matrix::find(ClassId from, ClassId to) const {
  const auto at = std::lower_bound(cells.begin(), cells.end(), std::pair(from, to),
                                   [](const Cell& cell, const std::pair<ClassId, ClassId>& wanted) {
                                     return std::pair(cell.from, cell.to) < wanted;
                                   });
  return at != cells.end() && at->from == from && at->to == to ? &*at : nullptr;
}

}  // namespace bulkhead::policy
