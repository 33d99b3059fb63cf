// JSON text as a tree that is cheap to make and to walk: nlohmann's reader without its values,
// whose maps and strings cost ten times the reading of a listing of 20 MB. Below ruleset_json.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "policy/support/result.h"

namespace bulkhead::compiler::proof {

// One value. Lives as long as the call that hands it out.
struct Json {
  enum class Kind : std::uint8_t { Null, Boolean, Integer, Text, Array, Object };
  Kind kind = Kind::Null;
  bool negative = false;        // of an Integer
  std::uint64_t integer = 0;    // its absolute value; of a Boolean 0 or 1
  std::string_view text;        // of Text; of a number that is no integer as it was written
  std::string_view name;        // of an object's member
  const Json* first = nullptr;  // of Array and Object
  const Json* next = nullptr;   // in the same array or object
  std::uint32_t size = 0;

  [[nodiscard]] bool is_text() const { return kind == Kind::Text; }
  [[nodiscard]] bool is_array() const { return kind == Kind::Array; }
  [[nodiscard]] bool is_object() const { return kind == Kind::Object; }
  [[nodiscard]] bool is_integer() const { return kind == Kind::Integer && !negative; }
  // The member of that name (the first one), else null. Linear in the members.
  [[nodiscard]] const Json* find(std::string_view member) const;
  // Text of the member, else "".
  [[nodiscard]] std::string_view text_of(std::string_view member) const;
};
// Compact JSON again, cut to `most` bytes and "..." .
[[nodiscard]] std::string to_text(const Json& json, std::size_t most);

// Calls `each` with every entry of the array `nftables`, in order; an error of it ends the reading.
// Memory is that of the largest entry. Environment error, with the place, where the text is not
// complete JSON, is nested deeper than 100, or is no listing.
[[nodiscard]] Status read_listing(std::string_view text,
                                  const std::function<Status(const Json& entry)>& each);

}  // namespace bulkhead::compiler::proof
