#include "probes/tuples.h"

namespace bulkhead::probes {
namespace {

constexpr std::uint32_t kCount = TupleSource::kLast - TupleSource::kFirst + 1;

std::uint16_t starting_port(std::uint64_t seed, const Address& from) {
  std::uint64_t hash = seed * 0x9e3779b97f4a7c15ULL + 14695981039346656037ULL;
  for (const std::uint8_t byte : from.bytes)
    hash = (hash ^ byte) * 1099511628211ULL;
  return static_cast<std::uint16_t>(TupleSource::kFirst + (hash >> 16) % kCount);
}

}  // namespace

void TupleSource::reserve(compiler::Transport transport, const Address& address,
                          std::uint16_t port) {
  reserved_.emplace(transport, address, port);
}

Tuple TupleSource::fresh(compiler::Transport transport, const Address& from, const Address& to,
                         std::uint16_t port) {
  const Source source{transport, from};
  auto next = next_.try_emplace(source, starting_port(seed_, from)).first;
  for (;;) {
    const std::uint16_t sport = next->second;
    next->second = sport == kLast ? kFirst : static_cast<std::uint16_t>(sport + 1);
    if (reserved_.contains({transport, from, sport}))
      continue;
    const Tuple tuple{from, sport, to, port};
    if (used_.emplace(transport, tuple).second)
      return tuple;
  }
}

}  // namespace bulkhead::probes
