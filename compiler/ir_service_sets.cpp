#include "compiler/ir_service_sets.h"

#include <algorithm>
#include <functional>

namespace bulkhead::compiler::ir {

using policy::Piece;

namespace {

std::size_t hash_of(const ServiceSet& set) {
  std::size_t hash = set.everything ? 1 : 2;
  const auto mix = [&](std::size_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15; };
  mix(set.families);
  for (const Piece* piece : set.pieces) {
    mix((std::size_t{piece->ports.first} << 16) + piece->ports.last);
    mix(static_cast<std::size_t>(piece->key.kind) * 256 + piece->key.protocol);
    for (const auto& rule : piece->rules)
      mix(std::hash<std::string>()(rule));
  }
  return hash;
}

bool equal(const ServiceSet& a, const ServiceSet& b) {
  return a.everything == b.everything && a.families == b.families &&
         std::equal(a.pieces.begin(), a.pieces.end(), b.pieces.begin(), b.pieces.end(),
                    [](const Piece* x, const Piece* y) { return x == y || *x == *y; });
}

}  // namespace

Index ServiceSets::intern(ServiceSet set) {
  const std::size_t hash = hash_of(set);
  const auto [first, last] = known_.equal_range(hash);
  for (auto i = first; i != last; ++i)
    if (equal(sets_[i->second], set))
      return i->second;
  const auto index = static_cast<Index>(sets_.size());
  sets_.push_back(std::move(set));
  known_.emplace(hash, index);
  return index;
}

Index ServiceSets::join(Index a, Index b) {
  ServiceSet out{sets_[a].everything || sets_[b].everything,
                 static_cast<Families>(sets_[a].families | sets_[b].families), sets_[a].pieces};
  for (const Piece* piece : sets_[b].pieces) {
    const auto same = std::find_if(out.pieces.begin(), out.pieces.end(), [&](const Piece* p) {
      return p->key == piece->key && p->ports == piece->ports;
    });
    if (same == out.pieces.end()) {
      out.pieces.push_back(piece);
    } else {
      *same = join(**same, *piece);
    }
  }
  std::sort(out.pieces.begin(), out.pieces.end(),
            [](const Piece* x, const Piece* y) { return *x < *y; });
  return intern(std::move(out));
}

const Piece* ServiceSets::join(const Piece& a, const Piece& b) {
  if (a.action != b.action)
    return a.action == policy::Action::Deny ? &a : &b;
  Piece both = a;
  both.rules.insert(both.rules.end(), b.rules.begin(), b.rules.end());
  std::sort(both.rules.begin(), both.rules.end());
  both.rules.erase(std::unique(both.rules.begin(), both.rules.end()), both.rules.end());
  return &made_.emplace_back(std::move(both));
}

}  // namespace bulkhead::compiler::ir
