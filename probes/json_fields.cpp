#include "probes/json_fields.h"

#include <nlohmann/json.hpp>

#include "probes/identity.h"

namespace bulkhead::probes {
namespace {

constexpr std::size_t kLongestLine = std::size_t{16} << 20;
constexpr int kDeepest = 8;

bool too_deep(std::string_view line) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest)
        return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<nlohmann::json> parse_object(std::string_view line) {
  if (line.size() > kLongestLine)
    return fail(ErrorKind::Environment, "line longer than 16 MiB");
  if (too_deep(line))
    return fail(ErrorKind::Environment, "line nested too deeply");
  nlohmann::json value = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded())
    return fail(ErrorKind::Environment, "line is not JSON");
  if (!value.is_object())
    return fail(ErrorKind::Environment, "line is not a JSON object");
  return value;
}

JsonFields::JsonFields(const nlohmann::json& object) : object_(&object) {
  if (!object.is_object())
    mistake("expected an object");
}

bool JsonFields::has(const char* name) const {
  return object_->is_object() && object_->contains(name);
}

void JsonFields::mistake(std::string message) {
  if (mistake_.empty())
    mistake_ = std::move(message);
}

const nlohmann::json* JsonFields::field(const char* name) {
  if (object_->is_object()) {
    if (const auto found = object_->find(name); found != object_->end()) {
      ++read_;
      return &*found;
    }
  }
  mistake("field `" + std::string(name) + "` is missing");
  return nullptr;
}

std::string JsonFields::text(const char* name) {
  const nlohmann::json* value = field(name);
  if (value == nullptr)
    return {};
  if (!value->is_string()) {
    mistake("field `" + std::string(name) + "` is not a string");
    return {};
  }
  return value->get_ref<const std::string&>();
}

std::uint64_t JsonFields::number(const char* name, std::uint64_t most) {
  const nlohmann::json* value = field(name);
  if (value == nullptr)
    return 0;
  if (!value->is_number_unsigned() || value->get<std::uint64_t>() > most) {
    mistake("field `" + std::string(name) + "` is not a whole number up to " +
            std::to_string(most));
    return 0;
  }
  return value->get<std::uint64_t>();
}

bool JsonFields::flag(const char* name) {
  const nlohmann::json* value = field(name);
  if (value == nullptr)
    return false;
  if (!value->is_boolean()) {
    mistake("field `" + std::string(name) + "` is not true or false");
    return false;
  }
  return value->get<bool>();
}

Token JsonFields::token(const char* name) {
  const auto token = token_from_hex(text(name));
  if (!token)
    mistake("field `" + std::string(name) + "` is not 32 hex digits");
  return token.value_or(Token{});
}

Address JsonFields::address_from(const nlohmann::json& value, const char* name) {
  std::optional<Address> address;
  if (value.is_string())
    address = Address::parse(value.get_ref<const std::string&>());
  if (!address)
    mistake("field `" + std::string(name) + "` holds no IP address");
  return address.value_or(Address{});
}

Address JsonFields::address(const char* name) {
  const nlohmann::json* value = field(name);
  return value == nullptr ? Address{} : address_from(*value, name);
}

Tuple JsonFields::tuple(const char* name) {
  Tuple tuple;
  const nlohmann::json* value = array(name);
  if (value == nullptr)
    return tuple;
  const auto port = [&](const nlohmann::json& number) -> std::uint16_t {
    if (!number.is_number_unsigned() || number.get<std::uint64_t>() > 65535) {
      mistake("field `" + std::string(name) + "` holds no port");
      return 0;
    }
    return number.get<std::uint16_t>();
  };
  if (value->size() != 4) {
    mistake("field `" + std::string(name) + "` is not [from, port, to, port]");
    return tuple;
  }
  tuple.from = address_from((*value)[0], name);
  tuple.sport = port((*value)[1]);
  tuple.to = address_from((*value)[2], name);
  tuple.port = port((*value)[3]);
  if (tuple.from.family != tuple.to.family)
    mistake("field `" + std::string(name) + "` mixes address families");
  return tuple;
}

const nlohmann::json* JsonFields::array(const char* name) {
  const nlohmann::json* value = field(name);
  if (value != nullptr && !value->is_array()) {
    mistake("field `" + std::string(name) + "` is not a list");
    return nullptr;
  }
  return value;
}

void JsonFields::expect_text(const char* name, std::string_view wanted) {
  const std::string found = text(name);
  if (found != wanted)
    mistake("field `" + std::string(name) + "` is `" + found + "`, not `" + std::string(wanted) +
            "`");
}

Status JsonFields::finish() {
  if (mistake_.empty() && read_ != object_->size())
    mistake("a field is unknown");
  if (!mistake_.empty())
    return fail(ErrorKind::Environment, mistake_);
  return {};
}

namespace {

// Length of the UTF-8 sequence that starts `text`, 0 where there is none (RFC 3629 table 3-7).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const auto tail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  const std::uint8_t first = byte(0);
  if (first < 0x80)
    return 1;
  if (first >= 0xc2 && first <= 0xdf)
    return tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!tail(1) || !tail(2))
      return 0;
    const bool overlong = first == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = first == 0xed && byte(1) > 0x9f;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!tail(1) || !tail(2) || !tail(3))
      return 0;
    const bool overlong = first == 0xf0 && byte(1) < 0x90;
    const bool beyond = first == 0xf4 && byte(1) > 0x8f;
    return overlong || beyond ? 0 : 4;
  }
  return 0;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text.front();
    if (length == 0) {
      out += '?';
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<std::uint8_t>(c) < 0x20) {
      out += "\\u00";
      out += bytes_to_hex(std::array{static_cast<std::uint8_t>(c)});
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  out += '"';
}

}  // namespace bulkhead::probes
