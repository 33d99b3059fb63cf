// ProbeBook <-> JSON, schema bulkhead.probe/2. Written by hand, an item a line: a tree of them in
// memory would cost ten times the text.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/probe_book.h"

namespace bulkhead::compiler {
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "bulkhead.probe/2";

std::string json_text(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
  });
  if (plain)
    return '"' + std::string(text) + '"';
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string end_text(const ProbeEnd& end, const Site& site) {
  std::string text = fmt::format(R"({{"class":{},"host":{},"nic":{},"addr":"{}")",
                                 json_text(site.matrix.universe.classes[end.cls].name),
                                 json_text(end.host), json_text(end.nic), end.address.str());
  if (end.agentless)
    text += R"(,"agentless":true)";
  if (!end.stands_for.empty())
    text += R"(,"stands_for":)" + json_text(end.stands_for);
  return text + "}";
}

std::string shot_text(const Shot& shot) {
  std::string text =
      fmt::format(R"({{"transport":"{}","port":{})", to_string(shot.transport), shot.port);
  if (shot.payload != Payload::Token)
    text.append(R"(,"payload":")").append(to_string(shot.payload)).append("\"");
  if (shot.sport != 0)
    text.append(R"(,"sport":)").append(std::to_string(shot.sport));
  if (shot.size != 0)
    text.append(R"(,"size":)").append(std::to_string(shot.size));
  text.append(R"(,"expect":")").append(to_string(shot.expect));
  return text.append(R"(","rule":)").append(json_text(shot.rule)).append("}");
}

std::string list_text(const std::vector<Shot>& shots) {
  std::string text = "[";
  for (const Shot& shot : shots)
    text.append(text.size() > 1 ? ",\n " : "").append(shot_text(shot));
  return text + "]";
}

std::string detour_text(const Detour& detour) {
  if (detour.host.empty())
    return {};
  return fmt::format(R"(,"detour":{{"host":{},"nic":{}}})", json_text(detour.host),
                     json_text(detour.nic));
}

std::string pair_text(const ProbedPair& pair) {
  return fmt::format(R"({{"from":{},"to":{},"shots":[{}],"cause":"{}","enforcer":{}{}}})",
                     pair.from, pair.to, fmt::join(pair.shots, ","), to_string(pair.cause),
                     json_text(pair.enforcer), detour_text(pair.detour));
}

std::string unprobed_text(const Unprobed& cell, const Site& site) {
  return fmt::format(R"({{"from":{},"to":{},"what":{},"reason":{},"vacuous":{},"not_asked":{}}})",
                     json_text(site.matrix.universe.classes[cell.from].name),
                     json_text(site.matrix.universe.classes[cell.to].name), json_text(cell.what),
                     json_text(cell.reason), cell.vacuous, cell.not_asked);
}

template <class Item, class Print>
void append_list(std::string& out, const std::vector<Item>& items, Print print) {
  for (std::size_t i = 0; i < items.size(); ++i)
    out += (i == 0 ? "\n" : ",\n") + print(items[i]);
}

// Throws json::exception or std::string (what is wrong); book_from_json catches both.
class Reader {
 public:
  explicit Reader(const Site& site) : universe_(site.matrix.universe) {}

  std::vector<Shot> shots(const json& in) const {
    std::vector<Shot> out;
    for (const json& shot : in.get_ref<const json::array_t&>()) {
      only(shot, {"transport", "payload", "port", "sport", "size", "expect", "rule"});
      out.push_back({
          .transport = named(shot.at("transport"), kTransports),
          .port = number(shot.at("port")),
          .sport = number(shot.value("sport", json(0))),
          .payload = named(shot.value("payload", json("token")), kPayloads),
          .size = number(shot.value("size", json(0))),
          .expect = named(shot.at("expect"), kExpects),
          .rule = shot.at("rule").get<std::string>(),
      });
    }
    return out;
  }

  ProbedPair pair(const json& in, const ProbeBook& book) const {
    only(in, {"from", "to", "shots", "cause", "enforcer", "detour"});
    ProbedPair out;
    out.from = place(in.at("from"), book.ends.size());
    out.to = place(in.at("to"), book.ends.size());
    for (const json& list : in.at("shots").get_ref<const json::array_t&>())
      out.shots.push_back(place(list, book.shots.size()));
    out.cause = named(in.at("cause"), kCauses);
    out.enforcer = in.at("enforcer").get<std::string>();
    if (const auto detour = in.find("detour"); detour != in.end()) {
      only(*detour, {"host", "nic"});
      out.detour = {detour->at("host").get<std::string>(), detour->at("nic").get<std::string>()};
    }
    if (book.ends[out.from].address.family != book.ends[out.to].address.family)
      throw std::string("a pair mixes address families");
    return out;
  }

  ProbeEnd end(const json& in) const {
    only(in, {"class", "host", "nic", "addr", "agentless", "stands_for"});
    const auto& text = in.at("addr").get_ref<const std::string&>();
    const auto address = Address::parse(text);
    if (!address)
      throw std::string("`" + text + "` is no address");
    return {cls(in.at("class")),
            in.at("host").get<std::string>(),
            in.at("nic").get<std::string>(),
            *address,
            in.value("agentless", false),
            in.value("stands_for", std::string())};
  }

  Unprobed unprobed(const json& in) const {
    only(in, {"from", "to", "what", "reason", "vacuous", "not_asked"});
    return {cls(in.at("from")),
            cls(in.at("to")),
            in.at("what").get<std::string>(),
            in.at("reason").get<std::string>(),
            in.at("vacuous").get<bool>(),
            in.at("not_asked").get<bool>()};
  }

  static void only(const json& in, std::initializer_list<std::string_view> known) {
    for (const auto& [name, value] : in.get_ref<const json::object_t&>()) {
      if (std::find(known.begin(), known.end(), name) == known.end())
        throw std::string("unknown field `" + name + "`");
    }
  }

 private:
  policy::ClassId cls(const json& in) const {
    const auto& name = in.get_ref<const std::string&>();
    const policy::Class* found = universe_.find(name);
    if (!found)
      throw std::string("class `" + name + "` is not of this site");
    return static_cast<policy::ClassId>(found - universe_.classes.data());
  }

  static std::uint32_t place(const json& in, std::size_t size) {
    const auto value = in.get<std::int64_t>();
    if (!in.is_number_integer() || value < 0 || static_cast<std::size_t>(value) >= size)
      throw std::string("a place is out of range");
    return static_cast<std::uint32_t>(value);
  }

  static std::uint16_t number(const json& in) {
    const auto value = in.get<std::int64_t>();
    if (!in.is_number_integer() || value < 0 || value > 65535)
      throw std::string("a number is out of range");
    return static_cast<std::uint16_t>(value);
  }

  static constexpr Transport kTransports[] = {Transport::Tcp, Transport::Udp, Transport::Icmp,
                                              Transport::Raw};
  static constexpr Payload kPayloads[] = {Payload::Token, Payload::RoceRequest,
                                          Payload::RoceAcknowledge, Payload::LoneAck};
  static constexpr Expect kExpects[] = {Expect::Allow, Expect::Deny};
  static constexpr Cause kCauses[] = {Cause::None, Cause::Rule, Cause::Route, Cause::Partition,
                                      Cause::External};

  template <class Enum, std::size_t N>
  static Enum named(const json& in, const Enum (&all)[N]) {
    const auto& text = in.get_ref<const std::string&>();
    for (const Enum value : all) {
      if (to_string(value) == text)
        return value;
    }
    throw std::string("unknown word `" + text + "`");
  }

  const policy::Universe& universe_;
};

}  // namespace

std::string to_json(const ProbeBook& book, const Site& site) {
  std::string out =
      fmt::format(R"({{"schema":"{}","site":{},"ends":[)", kSchema, json_text(site.policy.name));
  append_list(out, book.ends, [&](const ProbeEnd& end) { return end_text(end, site); });
  out += "\n],\"shots\":[";
  append_list(out, book.shots, list_text);
  out += "\n],\"pairs\":[";
  append_list(out, book.pairs, pair_text);
  out += "\n],\"unprobed\":[";
  append_list(out, book.unprobed, [&](const Unprobed& cell) { return unprobed_text(cell, site); });
  return out + "\n]}\n";
}

Result<ProbeBook> book_from_json(std::string_view text, const Site& site) {
  const auto refuse = [](const std::string& why) {
    return fail(ErrorKind::Usage, "this is no probe plan of this site: " + why);
  };
  try {
    const json document = json::parse(text);
    if (!document.is_object() || document.value("schema", "") != kSchema)
      return refuse("its schema is not " + std::string(kSchema));
    Reader::only(document, {"schema", "site", "ends", "shots", "pairs", "unprobed"});
    const Reader reader(site);
    ProbeBook book;
    for (const json& end : document.at("ends"))
      book.ends.push_back(reader.end(end));
    for (const json& list : document.at("shots"))
      book.shots.push_back(reader.shots(list));
    for (const json& pair : document.at("pairs"))
      book.pairs.push_back(reader.pair(pair, book));
    for (const json& cell : document.at("unprobed"))
      book.unprobed.push_back(reader.unprobed(cell));
    return book;
  } catch (const json::exception& mistake) {
    return refuse(mistake.what());
  } catch (const std::string& mistake) {
    return refuse(mistake);
  }
}

}  // namespace bulkhead::compiler
