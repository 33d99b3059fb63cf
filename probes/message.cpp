#include "probes/message.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

#include "probes/identity.h"
#include "probes/json_fields.h"

namespace bulkhead::probes {
namespace {

using compiler::Payload;
using compiler::Transport;

constexpr std::string_view kSchema = "bulkhead.agent/1";
constexpr std::array kTransports{Transport::Tcp, Transport::Udp, Transport::Icmp, Transport::Raw};
constexpr std::array kPayloads{Payload::Token, Payload::RoceRequest, Payload::RoceAcknowledge,
                               Payload::LoneAck};
constexpr std::array kPhases{Phase::Before, Phase::Main, Phase::After};

using compiler::to_string;

// --- writing -------------------------------------------------------------------------------------
// By hand: expect and dial name tens of thousands of tries.

template <class... Args>
void append(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

void append_text(std::string& out, std::string_view name, std::string_view value) {
  append(out, ",\"{}\":", name);
  append_json_string(out, value);
}

// `,"name":[` each item `]`
template <class Items, class Write>
void append_list(std::string& out, std::string_view name, const Items& items, Write write) {
  append(out, ",\"{}\":[", name);
  bool first = true;
  for (const auto& item : items) {
    if (!first)
      out += ',';
    first = false;
    write(item);
  }
  out += ']';
}

// Without the closing brace, so that a dial adds its size.
void open_expected(std::string& out, const Expected& expected) {
  out += "{\"probe\":";
  append_json_string(out, expected.probe);
  fmt::format_to(
      std::back_inserter(out),
      FMT_COMPILE(",\"try\":{},\"transport\":\"{}\",\"tuple\":[\"{}\",{},\"{}\",{}],\"token\":"
                  "\"{}\""),
      expected.attempt, to_string(expected.transport), expected.tuple.from.str(),
      expected.tuple.sport, expected.tuple.to.str(), expected.tuple.port, to_hex(expected.token));
  if (expected.payload != Payload::Token)
    append(out, ",\"payload\":\"{}\"", to_string(expected.payload));
}

void write_listener(std::string& out, const Listener& listener, const std::string* reason) {
  append(out, "{{\"transport\":\"{}\",\"address\":\"{}\",\"port\":{}",
         to_string(listener.transport), listener.address.str(), listener.port);
  if (reason != nullptr)
    append_text(out, "reason", *reason);
  out += '}';
}

struct Writer {
  std::string out = "{\"schema\":\"bulkhead.agent/1\",\"type\":\"";

  void operator()(const Hello& hello) {
    out += "hello\"";
    append_text(out, "run", hello.run);
    append_text(out, "agent", hello.agent);
    append(out, ",\"key\":\"{}\",\"enforcer\":{}", bytes_to_hex(hello.key), hello.enforcer);
    append_list(out, "nics", hello.nics,
                [&](const std::string& name) { append_json_string(out, name); });
  }
  void operator()(const Listen& listen) {
    out += "listen\"";
    append_list(out, "listeners", listen.listeners,
                [&](const Listener& listener) { write_listener(out, listener, nullptr); });
  }
  void operator()(const Expect& expect) {
    append(out, "expect\",\"round\":{}", expect.round);
    append_list(out, "tries", expect.tries, [&](const Expected& expected) {
      open_expected(out, expected);
      out += '}';
    });
    append(out, ",\"unwanted\":\"");
    for (const std::uint32_t head : expect.unwanted)
      fmt::format_to(std::back_inserter(out), FMT_COMPILE("{:08x}"), head);
    out += '"';
  }
  void operator()(const Dial& dial) {
    append(out, "dial\",\"round\":{},\"phase\":\"{}\",\"pps\":{},\"timeout_ms\":{}", dial.round,
           to_string(dial.phase), dial.pps, dial.timeout.count());
    append_list(out, "tries", dial.tries, [&](const DialTry& dial_try) {
      open_expected(out, dial_try.what);
      append(out, ",\"size\":{}", dial_try.size);
      if (const auto& frame = dial_try.frame) {
        append(out, ",\"frame\":\"{}\",\"broadcast\":{}", bytes_to_hex(frame->to),
               frame->broadcast);
        append_text(out, "nic", frame->nic);
      }
      out += '}';
    });
  }
  void operator()(const Collect& collect) { append(out, "collect\",\"round\":{}", collect.round); }
  void operator()(const Stop&) { out += "stop\""; }

  void operator()(const Ready& ready) {
    out += "ready\"";
    append_text(out, "version", ready.version);
    append_text(out, "kernel", ready.facts.kernel);
    append(out, ",\"forwards_v4\":{},\"forwards_v6\":{},\"can_trace\":{}", ready.facts.forwards_v4,
           ready.facts.forwards_v6, ready.facts.can_trace);
    append_list(out, "interfaces", ready.facts.interfaces,
                [&](const std::string& name) { append_json_string(out, name); });
    append_list(out, "macs", ready.facts.macs,
                [&](const Mac& mac) { append(out, "\"{}\"", bytes_to_hex(mac)); });
  }
  void operator()(const Listening& listening) {
    const auto write = [&](const Listening::Other& other) {
      write_listener(out, other.listener, &other.reason);
    };
    append(out, "listening\",\"opened\":{}", listening.opened);
    append_list(out, "passive", listening.passive, write);
    append_list(out, "failed", listening.failed, write);
  }
  void operator()(const Expecting& expecting) {
    append(out, "expecting\",\"round\":{}", expecting.round);
  }
  void operator()(const Evidence& evidence) { out = to_json_line(evidence); }
  void operator()(const Dialed& dialed) {
    append(out, "dialed\",\"round\":{},\"phase\":\"{}\"", dialed.round, to_string(dialed.phase));
  }
  void operator()(const Collected& collected) {
    append(out, "collected\",\"round\":{},\"generation\":{},\"lost\":{}", collected.round,
           collected.generation, collected.lost);
  }
  void operator()(const Bye&) { out += "bye\""; }
  void operator()(const Failed& failed) {
    out += "failed\"";
    append_text(out, "reason", failed.reason);
  }
};

// --- reading -------------------------------------------------------------------------------------

std::uint32_t round_of(JsonFields& fields) {
  return static_cast<std::uint32_t>(fields.number("round", UINT32_MAX));
}

Expected read_expected(JsonFields& fields) {
  Expected expected;
  expected.probe = fields.text("probe");
  expected.attempt = static_cast<std::uint32_t>(fields.number("try", UINT32_MAX));
  expected.transport = enum_from(fields, "transport", kTransports);
  expected.tuple = fields.tuple("tuple");
  expected.token = fields.token("token");
  if (fields.has("payload"))
    expected.payload = enum_from(fields, "payload", kPayloads);
  return expected;
}

Listener read_listener(JsonFields& fields) {
  Listener listener;
  listener.transport = enum_from(fields, "transport", kTransports);
  listener.address = fields.address("address");
  listener.port = static_cast<std::uint16_t>(fields.number("port", 65535));
  return listener;
}

// Reads each object of a list; the first mistake in any of them becomes the outer object's.
template <class T, class Read>
std::vector<T> read_list(JsonFields& fields, const char* name, Read read) {
  std::vector<T> items;
  const nlohmann::json* list = fields.array(name);
  if (list == nullptr)
    return items;
  items.reserve(list->size());
  for (const nlohmann::json& element : *list) {
    JsonFields inner(element);
    items.push_back(read(inner));
    if (const Status status = inner.finish(); !status) {
      fields.mistake(std::string(name) + ": " + status.error().message);
      break;
    }
  }
  return items;
}

std::vector<Listening::Other> read_others(JsonFields& fields, const char* name) {
  return read_list<Listening::Other>(fields, name, [](JsonFields& inner) {
    Listening::Other other;
    other.listener = read_listener(inner);
    other.reason = inner.text("reason");
    return other;
  });
}

std::vector<std::string> read_names(JsonFields& fields, const char* name) {
  std::vector<std::string> names;
  const nlohmann::json* list = fields.array(name);
  for (const nlohmann::json& item : list ? *list : nlohmann::json::array()) {
    if (item.is_string())
      names.push_back(item.get_ref<const std::string&>());
    else
      fields.mistake(fmt::format("field `{}` holds something else than names", name));
  }
  return names;
}

// Eight hex digits each, one behind the other: a round has more than a thousand.
std::vector<std::uint32_t> read_unwanted(JsonFields& fields) {
  const std::string text = fields.text("unwanted");
  std::vector<std::uint8_t> bytes(text.size() / 8 * 4);
  if (!bytes_from_hex(text, bytes)) {
    fields.mistake("field `unwanted` is not eight hex digits each");
    return {};
  }
  std::vector<std::uint32_t> heads;
  for (std::size_t i = 0; i < bytes.size(); i += 4)
    heads.push_back(std::uint32_t{bytes[i]} << 24 | std::uint32_t{bytes[i + 1]} << 16 |
                    std::uint32_t{bytes[i + 2]} << 8 | std::uint32_t{bytes[i + 3]});
  return heads;
}

ToAgent read_hello(JsonFields& fields) {
  Hello hello;
  hello.run = fields.text("run");
  hello.agent = fields.text("agent");
  const auto key = key_from_hex(fields.text("key"));
  if (!key)
    fields.mistake("field `key` is not 64 hex digits");
  hello.key = key.value_or(AgentKey{});
  hello.enforcer = fields.flag("enforcer");
  hello.nics = read_names(fields, "nics");
  return hello;
}

ToAgent read_listen(JsonFields& fields) {
  return Listen{read_list<Listener>(fields, "listeners", read_listener)};
}

ToAgent read_expect(JsonFields& fields) {
  Expect expect;
  expect.round = round_of(fields);
  expect.tries = read_list<Expected>(fields, "tries", read_expected);
  expect.unwanted = read_unwanted(fields);
  return expect;
}

ToAgent read_dial(JsonFields& fields) {
  Dial dial;
  dial.round = round_of(fields);
  dial.phase = enum_from(fields, "phase", kPhases);
  dial.pps = static_cast<std::uint32_t>(fields.number("pps", UINT32_MAX));
  dial.timeout = std::chrono::milliseconds(fields.number("timeout_ms", 3'600'000));
  dial.tries = read_list<DialTry>(fields, "tries", [](JsonFields& inner) {
    DialTry dial_try;
    dial_try.what = read_expected(inner);
    dial_try.size = static_cast<std::uint16_t>(inner.number("size", 65535));
    if (inner.has("frame")) {
      Frame& frame = dial_try.frame.emplace();
      if (!bytes_from_hex(inner.text("frame"), frame.to))
        inner.mistake("field `frame` is not 12 hex digits");
      frame.broadcast = inner.flag("broadcast");
      frame.nic = inner.text("nic");
    }
    return dial_try;
  });
  return dial;
}

FromAgent read_ready(JsonFields& fields) {
  Ready ready;
  ready.version = fields.text("version");
  ready.facts.kernel = fields.text("kernel");
  ready.facts.forwards_v4 = fields.flag("forwards_v4");
  ready.facts.forwards_v6 = fields.flag("forwards_v6");
  ready.facts.can_trace = fields.flag("can_trace");
  ready.facts.interfaces = read_names(fields, "interfaces");
  if (const nlohmann::json* macs = fields.array("macs")) {
    for (const nlohmann::json& mac : *macs) {
      ready.facts.macs.emplace_back();
      if (!mac.is_string() ||
          !bytes_from_hex(mac.get_ref<const std::string&>(), ready.facts.macs.back()))
        fields.mistake("field `macs` holds something else than 12 hex digits");
    }
  }
  return ready;
}

FromAgent read_listening(JsonFields& fields) {
  Listening listening;
  listening.opened = static_cast<std::uint32_t>(fields.number("opened", UINT32_MAX));
  listening.passive = read_others(fields, "passive");
  listening.failed = read_others(fields, "failed");
  return listening;
}

FromAgent read_collected(JsonFields& fields) {
  Collected collected;
  collected.round = round_of(fields);
  collected.generation = static_cast<std::uint32_t>(fields.number("generation", UINT32_MAX));
  collected.lost = fields.number("lost", UINT64_MAX);
  return collected;
}

template <class Message>
struct MessageType {
  std::string_view name;
  Message (*read)(JsonFields&);
};

constexpr MessageType<ToAgent> kToAgent[] = {
    {"hello", read_hello},
    {"listen", read_listen},
    {"expect", read_expect},
    {"dial", read_dial},
    {"collect", [](JsonFields& fields) -> ToAgent { return Collect{round_of(fields)}; }},
    {"stop", [](JsonFields&) -> ToAgent { return Stop{}; }},
};

constexpr MessageType<FromAgent> kFromAgent[] = {
    {"ready", read_ready},
    {"listening", read_listening},
    {"expecting", [](JsonFields& fields) -> FromAgent { return Expecting{round_of(fields)}; }},
    {"dialed",
     [](JsonFields& fields) -> FromAgent {
       const std::uint32_t round = round_of(fields);
       return Dialed{round, enum_from(fields, "phase", kPhases)};
     }},
    {"collected", read_collected},
    {"bye", [](JsonFields&) -> FromAgent { return Bye{}; }},
    {"failed", [](JsonFields& fields) -> FromAgent { return Failed{fields.text("reason")}; }},
};

template <class Message>
Result<Message> read_message(const nlohmann::json& object,
                             std::span<const MessageType<Message>> types) {
  JsonFields fields(object);
  fields.expect_text("schema", kSchema);
  const std::string name = fields.text("type");
  for (const auto& type : types) {
    if (type.name != name)
      continue;
    Message message = type.read(fields);
    if (const Status status = fields.finish(); !status)
      return fail(status.error().context("message " + name));
    return message;
  }
  fields.mistake("unknown message type `" + name + "`");
  return fail(fields.finish().error());
}

}  // namespace

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::Before:
      return "before";
    case Phase::Main:
      return "main";
    case Phase::After:
      return "after";
  }
  return "?";
}

std::string to_json_line(const ToAgent& message) {
  Writer writer;
  std::visit(writer, message);
  return std::move(writer.out) + "}";
}

std::string to_json_line(const FromAgent& message) {
  Writer writer;
  std::visit(writer, message);
  if (!std::holds_alternative<Evidence>(message))
    writer.out += '}';
  return std::move(writer.out);
}

Result<ToAgent> to_agent_from_json(std::string_view line) {
  const auto object = parse_object(line);
  if (!object)
    return fail(object.error());
  return read_message<ToAgent>(*object, kToAgent);
}

Result<FromAgent> from_agent_from_json(std::string_view line) {
  const auto object = parse_object(line);
  if (!object)
    return fail(object.error());
  const auto schema = object->find("schema");
  if (schema != object->end() && *schema == "bulkhead.evidence/1") {
    auto evidence = evidence_from_object(*object);
    if (!evidence)
      return fail(evidence.error());
    return FromAgent(*std::move(evidence));
  }
  return read_message<FromAgent>(*object, kFromAgent);
}

std::optional<std::string> stranger_version(std::string_view line) {
  const auto object = parse_object(line);
  if (!object)
    return std::nullopt;
  const auto text = [&](const char* name) -> std::string {
    const auto field = object->find(name);
    return field != object->end() && field->is_string() ? field->get<std::string>() : "";
  };
  const std::string type = text("type");
  if (!text("schema").starts_with("bulkhead.") || (type != "ready" && type != "failed"))
    return std::nullopt;
  const std::string version = text("version");
  return version.empty() ? "unknown" : version;
}

}  // namespace bulkhead::probes
