#include <netinet/in.h>

#include <algorithm>
#include <cassert>

#include "probes/transports/transport.h"

namespace bulkhead::probes {
namespace {

constexpr TransportRow kTransports[] = {
    {compiler::Transport::Tcp, IPPROTO_TCP, IPPROTO_TCP, make_tcp_dialer, make_tcp_answerer,
     read_tcp_opening},
    {compiler::Transport::Udp, IPPROTO_UDP, IPPROTO_UDP, make_udp_dialer, make_udp_answerer,
     read_udp_opening},
    {compiler::Transport::Icmp, IPPROTO_ICMP, IPPROTO_ICMPV6, make_icmp_dialer, make_icmp_answerer,
     read_icmp_opening},
    {compiler::Transport::Raw, kAnyOther, kAnyOther, make_raw_dialer, make_raw_answerer,
     read_raw_opening},
};

}  // namespace

std::span<const TransportRow> transports() {
  return kTransports;
}

const TransportRow& transport_row(compiler::Transport transport) {
  const auto* row = std::find_if(std::begin(kTransports), std::end(kTransports),
                                 [&](const TransportRow& r) { return r.transport == transport; });
  assert(row != std::end(kTransports));
  return *row;
}

const TransportRow* transport_of_protocol(Family family, std::uint8_t protocol) {
  const auto with = [&](std::uint8_t number) {
    return std::find_if(std::begin(kTransports), std::end(kTransports), [&](const auto& row) {
      return (family == Family::V4 ? row.protocol_v4 : row.protocol_v6) == number;
    });
  };
  const auto* row = with(protocol);
  if (row != std::end(kTransports))
    return row;
  // A trace is cut short before it tells what a fragment is one of.
  const bool unknown = family == Family::V6 && protocol == IPPROTO_FRAGMENT;
  return unknown ? nullptr : with(kAnyOther);
}

std::uint32_t initial_sequence(const Token& token) {
  return std::uint32_t{token[0]} << 24 | std::uint32_t{token[1]} << 16 |
         std::uint32_t{token[2]} << 8 | std::uint32_t{token[3]};
}

WireAnswer wire_answer(const Token& token, const Token& answer) {
  WireAnswer bytes{};
  std::copy(token.begin(), token.end(), bytes.begin());
  std::copy(answer.begin(), answer.end(), bytes.begin() + token.size());
  return bytes;
}

std::optional<Token> read_answer(std::span<const std::uint8_t> bytes, const Token& token) {
  if (bytes.size() != kAnswerSize || !std::equal(token.begin(), token.end(), bytes.begin()))
    return std::nullopt;
  Token answer{};
  std::copy_n(bytes.begin() + token.size(), answer.size(), answer.begin());
  return answer;
}

}  // namespace bulkhead::probes
