// What a transport must do: dial, answer, and read its own opening packet. One file and one row of
// the table in transports.cpp each; docs/adding-a-transport.md walks through it. A transport knows
// sockets, not plans: what to send comes from the agent, what happened goes back to it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "probes/event_loop.h"
#include "probes/evidence.h"
#include "probes/message.h"

namespace bulkhead::probes {

// An ICMP error that came back for a try, and who sent it.
struct IcmpError {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  Address from;
};

// How one try ended, in the dialer's eyes.
struct Ending {
  Outcome outcome = Outcome::SetupFailed;
  int error = 0;  // errno
  std::optional<IcmpError> icmp;
  std::optional<Token> answer;  // the listener's proof of identity
  std::string detail;
};

// Why a sender's own kernel says EPERM.
inline constexpr const char* kRefusedHere = "a rule of the sender's own host refused it";

using TryId = std::uint64_t;

class DialSink {
 public:
  virtual void ended(TryId id, Ending ending) = 0;

 protected:
  ~DialSink() = default;
};

class Dialer {
 public:
  virtual ~Dialer() = default;
  // Sends what `what` names and nothing else, then tells the sink exactly once, unless give_up
  // comes first. The sink may be told before start returns.
  virtual void start(TryId id, const DialTry& what) = 0;
  // Ends a try that the sink was not told of, and says how far it came. Frees its port.
  virtual Ending give_up(TryId id) = 0;
};

class ArrivalSink {
 public:
  // A payload with `token` reached a listener of ours. The answer to give; none where no such
  // token is expected, and then nothing may be sent back.
  virtual std::optional<Token> arrived(compiler::Transport transport, const Token& token,
                                       const Tuple& tuple) = 0;

 protected:
  ~ArrivalSink() = default;
};

enum class OpenState : std::uint8_t {
  Opened,
  Passive,  // a service of the host holds the port: it is left alone
  Failed,
};
struct Opened {
  OpenState state = OpenState::Failed;
  std::string reason;
};

class Answerer {
 public:
  virtual ~Answerer() = default;
  // Answers every expected token from now on, from the address asked, until destroyed.
  virtual Opened open(const Listener& listener) = 0;
};

// What the first packet of an exchange shows, in a capture or a trace.
struct Opening {
  std::uint16_t sport = 0, port = 0;  // as in Tuple
  std::optional<Token> token;         // whole, from the payload
  std::optional<std::uint32_t> initial_sequence;
};

inline constexpr std::uint8_t kAnyOther = 255;  // reserved by IANA

struct TransportRow {
  compiler::Transport transport;
  std::uint8_t protocol_v4, protocol_v6;  // IANA numbers; kAnyOther: what no other row has
  std::unique_ptr<Dialer> (*make_dialer)(EventLoop&, DialSink&);
  std::unique_ptr<Answerer> (*make_answerer)(EventLoop&, ArrivalSink&);
  // `segment` starts at the transport's header and may be cut short. None: no packet of a dialer.
  std::optional<Opening> (*read_opening)(Family family, std::span<const std::uint8_t> segment);
};

[[nodiscard]] std::span<const TransportRow> transports();
[[nodiscard]] const TransportRow& transport_row(compiler::Transport transport);
// Null: none of ours.
[[nodiscard]] const TransportRow* transport_of_protocol(Family family, std::uint8_t protocol);

// A lone ACK of ours has this urgent pointer, which means nothing without URG: a capture finds it
// among the segments of a busy host, and no filter looks there.
inline constexpr std::uint16_t kLoneAckMark = 0xb1d1;

// The sequence number that a SYN carries for this token.
[[nodiscard]] std::uint32_t initial_sequence(const Token& token);

// An answer on the wire: the token, then the MAC over it (identity.h). The token is repeated so
// that a late answer to an older try on the same ports is told apart.
inline constexpr std::size_t kAnswerSize = 32;
using WireAnswer = std::array<std::uint8_t, kAnswerSize>;
[[nodiscard]] WireAnswer wire_answer(const Token& token, const Token& answer);
// The MAC, if `bytes` is an answer to `token`.
[[nodiscard]] std::optional<Token> read_answer(std::span<const std::uint8_t> bytes,
                                               const Token& token);

std::unique_ptr<Dialer> make_tcp_dialer(EventLoop& loop, DialSink& sink);
std::unique_ptr<Answerer> make_tcp_answerer(EventLoop& loop, ArrivalSink& sink);
std::optional<Opening> read_tcp_opening(Family family, std::span<const std::uint8_t> segment);

std::unique_ptr<Dialer> make_udp_dialer(EventLoop& loop, DialSink& sink);
std::unique_ptr<Answerer> make_udp_answerer(EventLoop& loop, ArrivalSink& sink);
std::optional<Opening> read_udp_opening(Family family, std::span<const std::uint8_t> segment);

std::unique_ptr<Dialer> make_raw_dialer(EventLoop& loop, DialSink& sink);
std::unique_ptr<Answerer> make_raw_answerer(EventLoop& loop, ArrivalSink& sink);
std::optional<Opening> read_raw_opening(Family family, std::span<const std::uint8_t> segment);

// Of tries that name their frame: one packet in it.
std::unique_ptr<Dialer> make_detour_dialer(DialSink& sink);

std::unique_ptr<Dialer> make_icmp_dialer(EventLoop& loop, DialSink& sink);
std::unique_ptr<Answerer> make_icmp_answerer(EventLoop& loop, ArrivalSink& sink);
std::optional<Opening> read_icmp_opening(Family family, std::span<const std::uint8_t> segment);

}  // namespace bulkhead::probes
