// Typed reading of a TOML file that a person wrote. Each getter checks the type, reports what is
// wrong at its place and then behaves as if the key were absent, so that one run finds all
// mistakes; finish() reports the keys that nobody asked for. policy.toml, its includes and
// inventory.toml are read through this; toml++ itself is included in toml_reader.cpp alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "policy/date.h"
#include "policy/file_reader.h"
#include "policy/model.h"
#include "policy/support/diagnostic.h"
#include "policy/support/source.h"

namespace bulkhead::policy {

class TomlTable;

// Owns the parsed file; tables and values refer into it. The SourceMap and the Diagnostics given to
// read() must outlive it.
class TomlDocument {
 public:
  // Reads and parses one file of the site. On failure (not readable, not UTF-8, syntax) exactly one
  // diagnostic says why: in the file, or at `named_at` where the file cannot be read.
  [[nodiscard]] static std::optional<TomlDocument> read(const FileReader& reader,
                                                        const std::string& path,
                                                        const std::string& display_prefix,
                                                        SourcePos named_at, SourceMap& sources,
                                                        Diagnostics& diagnostics);
  TomlDocument(TomlDocument&&) noexcept;
  TomlDocument& operator=(TomlDocument&&) noexcept;
  ~TomlDocument();
  [[nodiscard]] TomlTable root() const;
  [[nodiscard]] std::uint32_t file() const;

 private:
  friend class TomlTable;
  struct Content;
  explicit TomlDocument(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

// One element of a list that may hold strings and integers: ports = [22, "60001-63000"].
struct TomlItem {
  std::variant<std::string, std::int64_t> value;
  SourcePos at;
};

class TomlTable {
 public:
  [[nodiscard]] const std::string& what() const { return what_; }  // "segment `acme-fe`"
  [[nodiscard]] SourcePos at() const { return at_; }
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] bool is_empty_array(std::string_view key) const;
  [[nodiscard]] SourcePos at(std::string_view key) const;      // of its value; at() if absent
  [[nodiscard]] SourcePos key_at(std::string_view key) const;  // of the key; at() if absent

  // Absent, or of the wrong type (which has been reported): nullopt, empty, or false.
  // Every key must be a literal or outlive the table.
  [[nodiscard]] std::optional<Name> name(std::string_view key);
  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] std::vector<Name> names(std::string_view key);      // "x" or ["x", "y"]
  [[nodiscard]] std::vector<TomlItem> items(std::string_view key);  // 22, "a-b" or [22, "a-b"]
  [[nodiscard]] std::optional<bool> boolean(std::string_view key);
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key, std::int64_t least,
                                                    std::int64_t most);
  [[nodiscard]] std::optional<Date> date(std::string_view key);  // 2027-06-30 or "2027-06-30"
  [[nodiscard]] std::optional<TomlTable> table(std::string_view key);
  [[nodiscard]] std::vector<TomlTable> tables(std::string_view key);  // [[key]] or [{...}, {...}]
  // [key.NAME] ...: each name (with the place where it is written) and its table, called
  // "KEY `NAME`".
  [[nodiscard]] std::vector<std::pair<Name, TomlTable>> named_tables(std::string_view key);

  // Reports a missing key; true if it is there.
  bool require(std::string_view key);
  // Takes a key as known without reading it (the caller reports it); true if it is there.
  bool ignore(std::string_view key);
  // Reports keys that no getter asked for, with "did you mean". Call it last.
  void finish();
  // Renames the table for messages: "flow `F7`" is known only after its id was read.
  void call_it(std::string what) { what_ = std::move(what); }

 private:
  friend class TomlDocument;
  struct Node;  // toml++'s, by another name
  TomlTable(const TomlDocument::Content& content, const Node* table, std::string what,
            SourcePos at);
  const Node* find(std::string_view key);
  // Calls take(node, place) for the value of a key, or for each element where it is an array. False
  // says that it is not of the type `wanted`.
  template <class Take>
  void each(std::string_view key, std::string_view wanted, Take take);
  std::optional<TomlTable> as_table(const Node* node, std::string_view key, std::string what);
  void wrong_type(const Node* node, std::string_view key, std::string_view wanted);

  const TomlDocument::Content* content_;
  const Node* table_;
  std::string what_;
  SourcePos at_;
  std::vector<std::string_view> known_;
};

}  // namespace bulkhead::policy
