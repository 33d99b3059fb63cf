#include "probes/evidence.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "probes/identity.h"
#include "probes/json_fields.h"

namespace bulkhead::probes {
namespace {

constexpr std::string_view kSchema = "bulkhead.evidence/1";

constexpr std::array kEnds{End::Dialer, End::Listener, End::Enforcer, End::Bystander};
constexpr std::array kOutcomes{Outcome::Answered,    Outcome::Accepted,   Outcome::Refused,
                               Outcome::Unreachable, Outcome::Timeout,    Outcome::NoRoute,
                               Outcome::SetupFailed, Outcome::Sent,       Outcome::TokenSeen,
                               Outcome::SynSeen,     Outcome::PacketSeen, Outcome::Dropped,
                               Outcome::Left,        Outcome::Delivered};

void append_text_field(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty())
    return;
  fmt::format_to(std::back_inserter(out), FMT_COMPILE(",\"{}\":"), name);
  append_json_string(out, value);
}

std::string optional_text(JsonFields& fields, const char* name) {
  return fields.has(name) ? fields.text(name) : std::string();
}

std::uint64_t optional_number(JsonFields& fields, const char* name, std::uint64_t most) {
  return fields.has(name) ? fields.number(name, most) : 0;
}

void append_next_hop(std::string& out, const NextHop& hop) {
  fmt::format_to(
      std::back_inserter(out),
      ",\"next_hop\":\"{}\",\"next_mac\":\"{}\",\"next_permanent\":{},\"next_link_up\":{}",
      hop.address.str(), hop.mac ? bytes_to_hex(*hop.mac) : "", hop.permanent, hop.link_up);
}

NextHop read_next_hop(JsonFields& fields) {
  NextHop hop;
  hop.address = fields.address("next_hop");
  const std::string mac = fields.text("next_mac");
  if (!mac.empty() && !bytes_from_hex(mac, hop.mac.emplace()))
    fields.mistake("field `next_mac` is not 12 hex digits");
  hop.permanent = fields.flag("next_permanent");
  hop.link_up = fields.flag("next_link_up");
  return hop;
}

// Whole, or of a bystander's SYN the four bytes that are its sequence number.
std::string token_text(JsonFields& fields, End end) {
  const std::string text = fields.text("token");
  std::array<std::uint8_t, sizeof(std::uint32_t)> head{};
  if (token_from_hex(text) || (end == End::Bystander && bytes_from_hex(text, head)))
    return text;
  fields.mistake("field `token` is not 32 hex digits");
  return {};
}

}  // namespace

std::string_view to_string(End end) {
  switch (end) {
    case End::Dialer:
      return "dialer";
    case End::Listener:
      return "listener";
    case End::Enforcer:
      return "enforcer";
    case End::Bystander:
      return "bystander";
  }
  return "?";
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::Answered:
      return "answered";
    case Outcome::Accepted:
      return "accepted";
    case Outcome::Refused:
      return "refused";
    case Outcome::Unreachable:
      return "unreachable";
    case Outcome::Timeout:
      return "timeout";
    case Outcome::NoRoute:
      return "no_route";
    case Outcome::SetupFailed:
      return "setup_failed";
    case Outcome::Sent:
      return "sent";
    case Outcome::TokenSeen:
      return "token_seen";
    case Outcome::SynSeen:
      return "syn_seen";
    case Outcome::PacketSeen:
      return "packet_seen";
    case Outcome::Dropped:
      return "dropped";
    case Outcome::Left:
      return "left";
    case Outcome::Delivered:
      return "delivered";
  }
  return "?";
}

// By hand: a run writes this line a few hundred thousand times.
std::string to_json_line(const Evidence& evidence) {
  std::string out;
  out.reserve(400);
  const auto append = std::back_inserter(out);
  fmt::format_to(append, FMT_COMPILE("{{\"schema\":\"{}\",\"probe\":"), kSchema);
  append_json_string(out, evidence.probe);
  fmt::format_to(append, FMT_COMPILE(",\"try\":{},\"round\":{},\"end\":\"{}\",\"agent\":"),
                 evidence.attempt, evidence.round, to_string(evidence.end));
  append_json_string(out, evidence.agent);
  append_text_field(out, "run", evidence.run);
  fmt::format_to(append, FMT_COMPILE(",\"outcome\":\"{}\""), to_string(evidence.outcome));
  if (evidence.error != 0)
    fmt::format_to(append, FMT_COMPILE(",\"errno\":{}"), evidence.error);
  fmt::format_to(append, FMT_COMPILE(",\"elapsed_us\":{},\"tuple\":[\"{}\",{},\"{}\",{}]"),
                 evidence.elapsed.count(), evidence.tuple.from.str(), evidence.tuple.sport,
                 evidence.tuple.to.str(), evidence.tuple.port);
  append_text_field(out, "carrier", evidence.carrier);
  append_text_field(out, "token", evidence.token);
  append_text_field(out, "answer", evidence.answer);
  if (evidence.icmp_type)
    fmt::format_to(append, FMT_COMPILE(",\"icmp_type\":{}"), *evidence.icmp_type);
  if (evidence.icmp_code)
    fmt::format_to(append, FMT_COMPILE(",\"icmp_code\":{}"), *evidence.icmp_code);
  if (evidence.icmp_from)
    fmt::format_to(append, FMT_COMPILE(",\"icmp_from\":\"{}\""), evidence.icmp_from->str());
  if (evidence.next_hop)
    append_next_hop(out, *evidence.next_hop);
  append_text_field(out, "hook", evidence.hook);
  append_text_field(out, "table", evidence.table);
  append_text_field(out, "chain", evidence.chain);
  append_text_field(out, "verdict", evidence.verdict);
  append_text_field(out, "rule", evidence.rule);
  append_text_field(out, "interface", evidence.interface);
  if (evidence.handle != 0)
    fmt::format_to(append, FMT_COMPILE(",\"handle\":{}"), evidence.handle);
  if (evidence.generation != 0)
    fmt::format_to(append, FMT_COMPILE(",\"generation\":{}"), evidence.generation);
  append_text_field(out, "detail", evidence.detail);
  out += '}';
  return out;
}

Result<Evidence> evidence_from_json(std::string_view line) {
  const auto object = parse_object(line);
  if (!object)
    return fail(object.error().context("evidence"));
  return evidence_from_object(*object);
}

Result<Evidence> evidence_from_object(const nlohmann::json& object) {
  JsonFields fields(object);
  fields.expect_text("schema", kSchema);
  Evidence evidence;
  evidence.probe = fields.text("probe");
  evidence.attempt = static_cast<std::uint32_t>(fields.number("try", UINT32_MAX));
  evidence.round = static_cast<std::uint32_t>(fields.number("round", UINT32_MAX));
  evidence.end = enum_from(fields, "end", kEnds);
  evidence.agent = fields.text("agent");
  evidence.run = optional_text(fields, "run");
  evidence.outcome = enum_from(fields, "outcome", kOutcomes);
  evidence.error = static_cast<int>(optional_number(fields, "errno", 4095));
  // Cut where a clock went wild rather than overflow in a sum.
  evidence.elapsed = std::chrono::microseconds(fields.number("elapsed_us", 1'000'000'000'000));
  evidence.tuple = fields.tuple("tuple");
  evidence.carrier = optional_text(fields, "carrier");
  if (fields.has("token"))
    evidence.token = token_text(fields, evidence.end);
  if (fields.has("answer"))
    evidence.answer = to_hex(fields.token("answer"));
  if (fields.has("icmp_type"))
    evidence.icmp_type = static_cast<std::uint8_t>(fields.number("icmp_type", 255));
  if (fields.has("icmp_code"))
    evidence.icmp_code = static_cast<std::uint8_t>(fields.number("icmp_code", 255));
  if (fields.has("icmp_from"))
    evidence.icmp_from = fields.address("icmp_from");
  if (fields.has("next_hop"))
    evidence.next_hop = read_next_hop(fields);
  evidence.hook = optional_text(fields, "hook");
  evidence.table = optional_text(fields, "table");
  evidence.chain = optional_text(fields, "chain");
  evidence.verdict = optional_text(fields, "verdict");
  evidence.rule = optional_text(fields, "rule");
  evidence.interface = optional_text(fields, "interface");
  evidence.handle = optional_number(fields, "handle", UINT64_MAX);
  evidence.generation =
      static_cast<std::uint32_t>(optional_number(fields, "generation", UINT32_MAX));
  evidence.detail = optional_text(fields, "detail");
  if (const Status status = fields.finish(); !status)
    return fail(status.error().context("evidence"));
  return evidence;
}

}  // namespace bulkhead::probes
