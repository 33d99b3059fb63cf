#include "compiler/matrix_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace bulkhead::compiler {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using policy::Action;
using policy::Cell;
using policy::Kind;
using policy::Piece;

constexpr std::string_view kSchema = "bulkhead.matrix/1";
constexpr Kind kKinds[] = {Kind::Tcp,  Kind::Udp,  Kind::Sctp, Kind::Icmp,     Kind::Ip,
                           Kind::Dhcp, Kind::Roce, Kind::Ib,   Kind::GpuDirect};
constexpr Cause kCauses[] = {Cause::None, Cause::Rule, Cause::Route, Cause::Partition,
                             Cause::External};
constexpr std::string_view kAnything = "any";  // inside = "open": proto of the whole cell

ordered_json piece_json(const Piece& piece) {
  ordered_json out{{"proto", policy::to_string(piece.key.kind)}};
  if (piece.key.kind == Kind::Ip) {
    out["number"] = piece.key.protocol;
    if (piece.key.group)
      out["group"] = piece.key.group->str();
  } else if (piece.key.kind == Kind::Icmp) {
    for (std::size_t row = piece.ports.first; row <= piece.ports.last; ++row)
      out["types"].push_back(policy::kIcmpQueries[row].name);
  } else if (policy::has_ports(piece.key.kind)) {
    if (piece.ports.first == piece.ports.last)
      out["ports"] = {piece.ports.first};
    else
      out["ports"] = {fmt::format("{}-{}", piece.ports.first, piece.ports.last)};
  }
  out["rules"] = piece.rules;
  return out;
}

ordered_json pieces_json(const Cell* cell, Action action) {
  auto out = ordered_json::array();
  if (!cell)
    return out;
  if (cell->everything && action == Action::Allow)
    out.push_back({{"proto", kAnything}, {"rules", {policy::kRuleInside}}});
  for (const Piece& piece : cell->pieces)
    if (piece.action == action)
      out.push_back(piece_json(piece));
  return out;
}

// What is wrong with a line; matrix_from_json adds which.
struct Mistake {
  std::string what;
};

void only(const json& in, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : in.get_ref<const json::object_t&>())
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Mistake{"unknown field `" + name + "`"};
}

template <class Enum, std::size_t N>
Enum named(const std::string& text, const Enum (&all)[N]) {
  for (const Enum value : all)
    if (to_string(value) == text)
      return value;
  throw Mistake{"unknown word `" + text + "`"};
}

std::uint16_t port(std::string_view text) {
  std::uint16_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw Mistake{fmt::format("`{}` is no port", text)};
  return value;
}

std::uint16_t number(const json& in, std::uint16_t most) {
  if (!in.is_number_unsigned() || in.get<std::uint64_t>() > most)
    throw Mistake{fmt::format("{} is not a number from 0 to {}", in.dump(), most)};
  return in.get<std::uint16_t>();
}

PortRange ports(const json& list) {
  if (list.size() != 1)
    throw Mistake{"`ports` holds one port or one range"};
  if (list[0].is_number()) {
    const std::uint16_t single = number(list[0], 65535);
    return {single, single};
  }
  const auto& text = list[0].get_ref<const std::string&>();
  const std::size_t dash = std::min(text.find('-'), text.size());
  const std::string_view view = text;
  return {port(view.substr(0, dash)), port(view.substr(std::min(dash + 1, text.size())))};
}

PortRange types(const json& list) {
  std::vector<std::uint16_t> rows;
  for (const json& name : list)
    for (std::uint16_t row = 0; row < std::size(policy::kIcmpQueries); ++row)
      if (policy::kIcmpQueries[row].name == name.get_ref<const std::string&>())
        rows.push_back(row);
  if (rows.empty() || rows.size() != list.size() || rows.back() - rows.front() + 1U != rows.size())
    throw Mistake{"`types` are not ICMP types in order"};
  return {rows.front(), rows.back()};
}

Piece piece_of(const json& in, Action action) {
  only(in, {"proto", "ports", "types", "number", "group", "rules"});
  Piece out;
  out.action = action;
  out.key.kind = named(in.at("proto").get<std::string>(), kKinds);
  out.rules = in.at("rules").get<std::vector<std::string>>();
  if (policy::has_ports(out.key.kind))
    out.ports = ports(in.at("ports"));
  if (out.key.kind == Kind::Icmp)
    out.ports = types(in.at("types"));
  if (out.key.kind != Kind::Ip)
    return out;
  out.key.protocol = static_cast<std::uint8_t>(number(in.at("number"), 255));
  if (in.contains("group")) {
    out.key.group = Address::parse(in.at("group").get_ref<const std::string&>());
    if (!out.key.group)
      throw Mistake{"`group` is no address"};
  }
  return out;
}

policy::ClassId class_of(const json& name, const policy::Universe& universe) {
  const auto& text = name.get_ref<const std::string&>();
  const auto id = universe.id_of(text);
  if (!id)
    throw Mistake{"class `" + text + "` is not of this site"};
  return *id;
}

void read_line(const json& in, const policy::Universe& universe, MatrixCells& out) {
  if (in.value("schema", "") != kSchema)
    throw Mistake{"its schema is not " + std::string(kSchema)};
  only(in, {"schema", "from", "to", "allow", "deny", "cause", "enforcer", "path",
            "not_separated_from", "reason"});
  Cell cell{class_of(in.at("from"), universe), class_of(in.at("to"), universe), false, {}};
  for (const json& item : in.at("allow")) {
    if (item.at("proto") == kAnything)
      cell.everything = true;
    else
      cell.pieces.push_back(piece_of(item, Action::Allow));
  }
  if (in.contains("deny"))
    for (const json& item : in.at("deny"))
      cell.pieces.push_back(piece_of(item, Action::Deny));
  std::sort(cell.pieces.begin(), cell.pieces.end());
  out.coverage.push_back(
      {cell.from, cell.to, named(in.at("cause").get<std::string>(), kCauses),
       in.value("path", std::vector<std::string>()), in.value("enforcer", std::string()),
       in.value("not_separated_from", std::string()), in.value("reason", std::string())});
  if (cell.everything || !cell.pieces.empty())
    out.cells.push_back(std::move(cell));
}

}  // namespace

std::string to_json(const policy::Matrix& matrix, const Coverage& coverage) {
  const auto& classes = matrix.universe.classes;
  std::string out;
  for (const CellCoverage& covered : coverage.cells) {
    const Cell* cell = matrix.find(covered.from, covered.to);
    ordered_json line{{"schema", kSchema},
                      {"from", classes[covered.from].name},
                      {"to", classes[covered.to].name},
                      {"allow", pieces_json(cell, Action::Allow)}};
    if (auto denied = pieces_json(cell, Action::Deny); !denied.empty())
      line["deny"] = std::move(denied);
    line["cause"] = to_string(covered.cause);
    if (!covered.control.empty())
      line["enforcer"] = covered.control;
    if (!covered.path.empty())
      line["path"] = covered.path;
    if (!covered.not_separated_from.empty())
      line["not_separated_from"] = covered.not_separated_from;
    if (!covered.reason.empty())
      line["reason"] = covered.reason;
    out += line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  }
  return out;
}

Result<MatrixCells> matrix_from_json(std::string_view lines, const policy::Universe& universe) {
  MatrixCells out;
  std::size_t line_number = 0;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    ++line_number;
    if (line.empty())
      continue;
    const auto refuse = [&](std::string_view why) {
      return fail(ErrorKind::Usage, fmt::format("line {} is no matrix cell: {}", line_number, why));
    };
    try {
      read_line(json::parse(line), universe, out);
    } catch (const json::exception& error) {
      return refuse(error.what());
    } catch (const Mistake& mistake) {
      return refuse(mistake.what);
    }
  }
  return out;
}

}  // namespace bulkhead::compiler
