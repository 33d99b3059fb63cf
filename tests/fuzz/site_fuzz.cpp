// A whole site from bytes: policy.toml, inventory.toml and one more file that answers to every
// other path, separated by form feeds. Whatever they hold, reading ends with a value and
// diagnostics.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/site.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(bytes), size);
  const std::size_t first = all.find('\f');
  const std::size_t second = first == std::string_view::npos ? first : all.find('\f', first + 1);
  const auto part = [&](std::size_t begin, std::size_t end) {
    return begin >= all.size() ? std::string() : std::string(all.substr(begin, end - begin));
  };
  const std::string policy = part(0, first);
  const std::string inventory =
      first == std::string_view::npos ? std::string() : part(first + 1, second);
  const std::string other =
      second == std::string_view::npos ? std::string() : part(second + 1, all.size());
  const auto read = [&](const std::string& path) -> bulkhead::Result<std::string> {
    return path == "policy.toml" ? policy : path == "inventory.toml" ? inventory : other;
  };
  const auto site =
      bulkhead::compiler::load_site(read, *bulkhead::policy::parse_date("2026-12-01"));
  (void)bulkhead::render(site.diagnostics, site.sources, true);
  return 0;
}
