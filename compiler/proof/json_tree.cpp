#include "compiler/proof/json_tree.h"

#include <memory_resource>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace bulkhead::compiler::proof {

namespace {

constexpr std::size_t kDeepest = 100;
// {"nftables": [ ENTRY, ...]}: entries are the values at this depth.
constexpr std::size_t kEntryDepth = 2;

// The events of nlohmann's reader. Builds one entry at a time in an arena that is emptied after it.
class TreeBuilder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = std::string;
  using binary_t = nlohmann::json::binary_t;

  explicit TreeBuilder(const std::function<Status(const Json&)>& each) : each_(each) {}

  bool null() { return value(Json::Kind::Null); }
  bool boolean(bool is_true) {
    return value(Json::Kind::Boolean, [&](Json& json) { json.integer = is_true ? 1 : 0; });
  }
  bool number_integer(number_integer_t number) {
    return value(Json::Kind::Integer, [&](Json& json) {
      json.negative = number < 0;
      json.integer =
          number < 0 ? ~static_cast<std::uint64_t>(number) + 1 : static_cast<std::uint64_t>(number);
    });
  }
  bool number_unsigned(number_unsigned_t number) {
    return value(Json::Kind::Integer, [&](Json& json) { json.integer = number; });
  }
  // 128-bit constants come as numbers that fit no integer: kept as text, for a reader to refuse.
  bool number_float(number_float_t, const string_t& written) {
    return value(Json::Kind::Text, [&](Json& json) { json.text = kept(written); });
  }
  bool string(string_t& text) {
    return value(Json::Kind::Text, [&](Json& json) { json.text = kept(text); });
  }
  bool binary(binary_t&) { return false; }
  bool key(string_t& name) {
    name_ = depth_ >= kEntryDepth ? kept(name) : std::string_view();
    if (depth_ == 1)
      in_listing_ = name == "nftables";
    return true;
  }
  bool start_object(std::size_t) { return open(Json::Kind::Object); }
  bool start_array(std::size_t) { return open(Json::Kind::Array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t place, const std::string&, const nlohmann::detail::exception& e) {
    // nlohmann's message begins with its own name and error number.
    std::string_view message = e.what();
    const auto colon = message.find("while parsing");
    if (colon != std::string_view::npos)
      message.remove_prefix(colon);
    fail_with("the listing is not complete JSON (byte " + std::to_string(place) +
              "): " + std::string(message.substr(0, 200)));
    return false;
  }

  [[nodiscard]] Status finish(bool whole) && {
    if (error_)
      return fail(*error_);
    if (!whole)
      return fail(ErrorKind::Environment, "the listing is not complete JSON");
    if (!saw_listing_)
      return fail(ErrorKind::Environment,
                  "this JSON is no listing of nft: it has no array `nftables`");
    return {};
  }

 private:
  struct Open {
    Json* json;
    Json* last;
  };

  std::string_view kept(const std::string& text) {
    if (text.empty())
      return {};
    auto* copy = static_cast<char*>(arena_.allocate(text.size(), 1));
    std::copy(text.begin(), text.end(), copy);
    return {copy, text.size()};
  }

  void fail_with(std::string message) {
    if (!error_)
      error_ = Error{ErrorKind::Environment, std::move(message)};
  }

  Json* make(Json::Kind kind) {
    Json* json = new (arena_.allocate(sizeof(Json), alignof(Json))) Json;
    json->kind = kind;
    if (!open_.empty()) {
      Open& parent = open_.back();
      json->name = name_;
      (parent.last != nullptr ? parent.last->next : parent.json->first) = json;
      parent.last = json;
      ++parent.json->size;
    }
    return json;
  }

  template <class Fill>
  bool value(Json::Kind kind, Fill&& fill) {
    if (!in_listing_ || depth_ < kEntryDepth)
      return true;  // beside the listing
    Json* json = make(kind);
    fill(*json);
    return depth_ > kEntryDepth || entry_done(*json);
  }
  bool value(Json::Kind kind) {
    return value(kind, [](Json&) {});
  }

  bool open(Json::Kind kind) {
    if (depth_ >= kDeepest) {
      fail_with("the listing is nested deeper than any of nft");
      return false;
    }
    if (depth_ == 1 && in_listing_)
      saw_listing_ = kind == Json::Kind::Array;
    if (in_listing_ && depth_ >= kEntryDepth) {
      Json* json = make(kind);
      open_.push_back({json, nullptr});
    }
    ++depth_;
    return true;
  }

  bool close() {
    --depth_;
    if (!in_listing_ || depth_ < kEntryDepth) {
      if (depth_ == 1)
        in_listing_ = false;
      return true;
    }
    const Json* json = open_.back().json;
    open_.pop_back();
    return !open_.empty() || entry_done(*json);
  }

  bool entry_done(const Json& entry) {
    const Status status = each_(entry);
    arena_.release();
    if (!status)
      error_ = status.error();
    return status.has_value();
  }

  const std::function<Status(const Json&)>& each_;
  std::pmr::monotonic_buffer_resource arena_{std::size_t{1} << 16};
  std::vector<Open> open_;
  std::string_view name_;
  std::size_t depth_ = 0;  // of the value to come
  bool in_listing_ = false;
  bool saw_listing_ = false;
  std::optional<Error> error_;
};

void write(const Json& json, std::size_t most, std::string& out) {
  if (out.size() > most)
    return;
  const auto members = [&](char begin, char end) {
    out += begin;
    for (const Json* item = json.first; item != nullptr; item = item->next) {
      if (json.is_object())
        out.append("\"").append(item->name).append("\": ");
      write(*item, most, out);
      if (item->next != nullptr)
        out += ", ";
      if (out.size() > most)
        return;
    }
    out += end;
  };
  switch (json.kind) {
    case Json::Kind::Null:
      out += "null";
      break;
    case Json::Kind::Boolean:
      out += json.integer != 0 ? "true" : "false";
      break;
    case Json::Kind::Integer:
      out += (json.negative ? "-" : "") + std::to_string(json.integer);
      break;
    case Json::Kind::Text:
      out.append("\"").append(json.text).append("\"");
      break;
    case Json::Kind::Array:
      members('[', ']');
      break;
    case Json::Kind::Object:
      members('{', '}');
      break;
  }
}

}  // namespace

const Json* Json::find(std::string_view member) const {
  if (kind == Kind::Object)
    for (const Json* item = first; item != nullptr; item = item->next)
      if (item->name == member)
        return item;
  return nullptr;
}

std::string_view Json::text_of(std::string_view member) const {
  const Json* found = find(member);
  return found != nullptr && found->is_text() ? found->text : std::string_view();
}

std::string to_text(const Json& json, std::size_t most) {
  std::string out;
  write(json, most, out);
  if (out.size() > most) {
    out.resize(most);
    out += "...";
  }
  return out;
}

Status read_listing(std::string_view text, const std::function<Status(const Json& entry)>& each) {
  TreeBuilder builder(each);
  const bool whole = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return std::move(builder).finish(whole);
}

}  // namespace bulkhead::compiler::proof
