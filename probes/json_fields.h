// Strict reading of one JSON object: every field typed and in range, none missing, none unknown.
// The first mistake is kept and later reads give zero values, so that callers read all fields in a
// row and ask once at the end. For the .cpp files of this folder that parse lines.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policy/support/result.h"
#include "probes/evidence.h"

namespace bulkhead::probes {

// Parses one line of at most 16 MiB and little nesting (a deep one would cost gigabytes before it
// is refused) into an object.
[[nodiscard]] Result<nlohmann::json> parse_object(std::string_view line);

class JsonFields {
 public:
  // `object` must outlive this.
  explicit JsonFields(const nlohmann::json& object);

  [[nodiscard]] bool has(const char* name) const;
  std::string text(const char* name);
  std::uint64_t number(const char* name, std::uint64_t most);
  bool flag(const char* name);
  Token token(const char* name);
  Address address(const char* name);
  Tuple tuple(const char* name);  // ["10.1.0.11",40123,"10.9.0.11",22]
  // Null after a mistake.
  const nlohmann::json* array(const char* name);

  void mistake(std::string message);  // kept if it is the first
  // Reads the field and fails unless it is this very text.
  void expect_text(const char* name, std::string_view wanted);
  // An error for the first mistake, or for a field that nobody read.
  [[nodiscard]] Status finish();

 private:
  const nlohmann::json* field(const char* name);
  Address address_from(const nlohmann::json& value, const char* name);

  const nlohmann::json* object_;
  std::size_t read_ = 0;
  std::string mistake_;
};

// Finds the enumerator whose to_string is `text`.
template <class Enum, std::size_t N>
Enum enum_from(JsonFields& fields, const char* name, const std::array<Enum, N>& all) {
  const std::string text = fields.text(name);
  for (const Enum value : all) {
    if (to_string(value) == text)
      return value;
  }
  fields.mistake("field `" + std::string(name) + "` has the unknown value `" + text + "`");
  return all[0];
}

// One piece of evidence from a parsed line.
[[nodiscard]] Result<Evidence> evidence_from_object(const nlohmann::json& object);

// Appends `text` as a JSON string; bytes that are no UTF-8 become '?', since names read from a
// kernel may hold anything.
void append_json_string(std::string& out, std::string_view text);

}  // namespace bulkhead::probes
