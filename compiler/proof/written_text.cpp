#include "compiler/proof/written_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "compiler/proof/written_words.h"
#include "policy/support/text.h"

namespace bulkhead::compiler::proof {

namespace {

struct NotKnown {  // thrown and caught here: a reader of a language is nested deep
  std::size_t line;
  std::string found;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : words_(text) {}

  void file() {
    const Named declared = table_name();
    end_of_line();
    expect("delete");
    if (table_name() != declared)
      unknown();
    end_of_line();
    if (table_name() != declared)
      unknown();
    table_ = declared;
    add(tables_, "table",
        {member("family", text(table_.family)), member("name", text(table_.name))});
    expect("{");
    while (!take_line("}"))
      item();
    end_of_line();
    if (!words_.is_end())
      unknown();
  }

  Status give(const std::function<Status(const Json&)>& each) {
    const Json metainfo = wrapped("metainfo", {member("json_schema_version", number(1))});
    Status given = each(metainfo);
    for (const auto* entries : {&tables_, &counters_, &maps_, &chains_, &rules_})
      for (const Json& entry : *entries)
        if (given)
          given = each(entry);
    return given;
  }

  [[noreturn]] void unknown() const { throw NotKnown{words_.line(), std::string(words_.peek())}; }

 private:
  struct Named {
    std::string_view family, name;
    bool operator==(const Named&) const = default;
  };

  // ---- words

  std::string_view next() {
    if (words_.is_end() || words_.is_line_end())
      unknown();
    return words_.take();
  }
  bool take(std::string_view word) {
    if (words_.is_quoted() || words_.peek() != word)
      return false;
    words_.take();
    return true;
  }
  bool take_line(std::string_view word) {
    words_.skip_lines();
    return take(word);
  }
  void expect(std::string_view word) {
    if (!take(word))
      unknown();
  }
  void end_of_line() {
    if (!words_.is_end() && !words_.is_line_end())
      unknown();
    words_.skip_lines();
  }
  std::string_view quoted() {
    if (!words_.is_quoted())
      unknown();
    return words_.take();
  }
  Named table_name() {
    words_.skip_lines();
    expect("table");
    Named named;
    named.family = next();
    named.name = next();
    return named;
  }

  // ---- nodes, which live as long as this

  Json& keep(Json json) { return nodes_.emplace_back(json); }
  static Json text(std::string_view value) {
    Json json;
    json.kind = Json::Kind::Text;
    json.text = value;
    return json;
  }
  static Json number(std::uint64_t value) {
    Json json;
    json.kind = Json::Kind::Integer;
    json.integer = value;
    return json;
  }
  static Json member(std::string_view name, Json value) {
    value.name = name;
    return value;
  }
  Json group(Json::Kind kind, std::initializer_list<Json> items) {
    return group(kind, std::span(items.begin(), items.size()));
  }
  Json group(Json::Kind kind, std::span<const Json> items) {
    Json json;
    json.kind = kind;
    json.size = static_cast<std::uint32_t>(items.size());
    Json* last = nullptr;
    for (const Json& item : items) {
      Json& kept = keep(item);
      kept.next = nullptr;
      (last != nullptr ? last->next : json.first) = &kept;
      last = &kept;
    }
    return json;
  }
  Json object(std::initializer_list<Json> members) { return group(Json::Kind::Object, members); }
  Json array(std::span<const Json> items) { return group(Json::Kind::Array, items); }
  // {"NAME": {...}}, {"NAME": value}
  Json wrapped(std::string_view name, std::initializer_list<Json> members) {
    return object({member(name, object(members))});
  }
  Json wrapped(std::string_view name, Json value) { return object({member(name, value)}); }

  void add(std::vector<Json>& entries, std::string_view kind, std::vector<Json> members) {
    entries.push_back(wrapped(kind, group(Json::Kind::Object, std::span<const Json>(members))));
  }
  std::vector<Json> in_table(std::string_view name_member, std::string_view name) const {
    return {member("family", text(table_.family)), member("table", text(table_.name)),
            member(name_member, text(name))};
  }

  // ---- what a table holds

  void item() {
    if (take("counter"))
      return counter();
    if (take("map"))
      return map();
    expect("chain");
    chain();
  }

  void counter() {
    auto members = in_table("name", next());
    expect("{");
    if (take_line("comment"))
      members.push_back(member("comment", text(quoted())));
    if (!take_line("}"))
      unknown();
    add(counters_, "counter", std::move(members));
  }

  void map() {
    auto members = in_table("name", next());
    expect("{");
    words_.skip_lines();
    expect("type");
    std::vector<Json> types{text(next())};
    while (take("."))
      types.push_back(text(next()));
    members.push_back(
        member("type", types.size() == 1 ? types.front() : array(std::span<const Json>(types))));
    expect(":");
    expect("verdict");
    members.push_back(member("map", text("verdict")));
    while (!take_line("}")) {
      if (take("flags"))
        expect("interval");
      else if (take("elements"))
        members.push_back(member("elem", elements()));
      else
        expect("counter");
    }
    add(maps_, "map", std::move(members));
  }

  Json elements() {
    expect("=");
    return list([&] { return element(); });
  }

  // "{ a, b }", over lines.
  template <class One>
  Json list(const One& one) {
    expect("{");
    std::vector<Json> items;
    do {
      words_.skip_lines();
      items.push_back(one());
    } while (take_line(","));
    if (!take_line("}"))
      unknown();
    return array(std::span<const Json>(items));
  }

  // "KEY comment "R1" : VERDICT" -> [{"elem": {"val": KEY, "comment": "R1"}}, VERDICT]
  Json element() {
    Json key = concatenation([&] { return value(); });
    if (take("comment"))
      key = wrapped("elem", {member("val", key), member("comment", text(quoted()))});
    expect(":");
    const std::array pair{key, verdict()};
    return array(std::span<const Json>(pair));
  }

  template <class One>
  Json concatenation(const One& one) {
    std::vector<Json> parts{one()};
    while (take("."))
      parts.push_back(one());
    return parts.size() == 1 ? parts.front()
                             : wrapped("concat", array(std::span<const Json>(parts)));
  }

  Json verdict() {
    const std::string_view word = next();
    if (word == "goto" || word == "jump")
      return wrapped(word, {member("target", text(next()))});
    if (word != "accept" && word != "drop")
      unknown();
    return wrapped(word, Json{});
  }

  void chain() {
    const std::string_view name = next();
    auto members = in_table("name", name);
    expect("{");
    if (take_line("type")) {
      members.push_back(member("type", text(next())));
      expect("hook");
      members.push_back(member("hook", text(next())));
      expect("priority");
      members.push_back(member("prio", priority()));
      expect(";");
      expect("policy");
      members.push_back(member("policy", text(next())));
      expect(";");
    }
    add(chains_, "chain", std::move(members));
    while (!take_line("}"))
      rule(name);
  }

  Json priority() {
    const std::string_view word = next();
    if (word == "filter")
      return number(0);
    Json json = plain_number(word.substr(word.starts_with('-') ? 1 : 0));
    json.negative = word.starts_with('-');
    return json;
  }

  // ---- rules

  void rule(std::string_view chain) {
    if (words_.is_end())
      unknown();
    auto members = in_table("chain", chain);
    std::vector<Json> statements;
    while (!words_.is_end() && !words_.is_line_end()) {
      if (take("comment")) {
        members.push_back(member("comment", text(quoted())));
        end_of_line();
        break;
      }
      statements.push_back(statement());
    }
    members.push_back(member("expr", array(std::span<const Json>(statements))));
    add(rules_, "rule", std::move(members));
  }

  Json statement() {
    if (take("counter"))
      return wrapped("counter", take("name") ? text(quoted()) : Json{});
    for (const std::string_view word : {"accept", "drop", "goto", "jump"})
      if (!words_.is_quoted() && words_.peek() == word)
        return verdict();
    if (take("ct"))
      return of_connection();
    const Json key = concatenation([&] { return selector(); });
    if (take("vmap"))
      return wrapped("vmap", {member("key", key), member("data", set_name())});
    if (!words_.is_quoted() && words_.peek() == "{")
      return match("==", key, wrapped("set", list([&] { return value(); })));
    return match("==", key, value());
  }

  Json match(std::string_view op, const Json& left, const Json& right) {
    return wrapped("match", {member("op", text(op)), member("left", left), member("right", right)});
  }

  Json of_connection() {
    const std::string_view key = next();
    const Json left = wrapped("ct", {member("key", text(key))});
    if (key == "state") {
      std::vector<Json> states{text(next())};
      while (take(","))
        states.push_back(text(next()));
      return match("in", left, array(std::span<const Json>(states)));
    }
    if (key == "direction")
      return match("==", left, text(next()));
    if (key != "zone")
      unknown();
    expect("set");
    const Json by = selector();
    expect("map");
    const Json zones = list([&] {
      const Json name = text(quoted());
      expect(":");
      const std::array pair{name, value()};
      return array(std::span<const Json>(pair));
    });
    const Json map = wrapped("map", {member("key", by), member("data", wrapped("set", zones))});
    return wrapped("mangle", {member("key", left), member("value", map)});
  }

  Json set_name() {
    if (words_.is_quoted() || !words_.peek().starts_with('@'))
      unknown();
    return text(words_.take());
  }

  Json selector() {
    const std::string_view word = next();
    if (word == "@th") {
      std::array<Json, 2> bits;
      for (Json& one : bits) {
        expect(",");
        one = plain_number(next());
      }
      return wrapped("payload", {member("base", text("th")), member("offset", bits[0]),
                                 member("len", bits[1])});
    }
    if (is_meta_word(word))
      return wrapped("meta", {member("key", text(word))});
    const std::string_view field = next();
    if (word == "meta" && is_meta_word(field))
      return wrapped("meta", {member("key", text(field))});
    if (!is_payload(word, field))
      unknown();
    return wrapped("payload", {member("protocol", text(word)), member("field", text(field))});
  }

  // ---- values

  Json value() {
    if (words_.is_quoted())
      return text(words_.take());
    const std::string_view word = next();
    if (!is_literal(word))
      return text(word);  // a name of nft's: "tcp", "nd-router-solicit"
    if (const auto dash = word.find('-'); dash != std::string_view::npos) {
      const std::array ends{literal(word.substr(0, dash)), literal(word.substr(dash + 1))};
      return wrapped("range", array(std::span<const Json>(ends)));
    }
    if (const auto slash = word.find('/'); slash != std::string_view::npos)
      return wrapped("prefix", {member("addr", literal(word.substr(0, slash))),
                                member("len", plain_number(word.substr(slash + 1)))});
    return literal(word);
  }

  // An address, or a number.
  Json literal(std::string_view word) const {
    const bool address = word.find_first_of(".:") != std::string_view::npos;
    return address ? text(word) : plain_number(word);
  }

  Json plain_number(std::string_view word) const {
    const bool hex = word.starts_with("0x");
    if (hex)
      word.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(word.data(), word.data() + word.size(), value, hex ? 16 : 10);
    if (error != std::errc() || end != word.data() + word.size())
      unknown();
    return number(value);
  }

  Words words_;
  Named table_;
  std::deque<Json> nodes_;
  std::vector<Json> tables_, counters_, maps_, chains_, rules_;
};

}  // namespace

Status read_written(std::string_view nft_text,
                    const std::function<Status(const Json& entry)>& each) {
  Reader reader(nft_text);
  try {
    reader.file();
  } catch (const NotKnown& here) {
    return fail(ErrorKind::Environment,
                "line " + std::to_string(here.line) + ": " +
                    in_backticks(here.found.empty() ? "the end of the line" : here.found) +
                    " is outside of what bulkhead writes");
  }
  return reader.give(each);
}

}  // namespace bulkhead::compiler::proof
