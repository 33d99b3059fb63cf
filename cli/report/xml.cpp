#include "cli/report/xml.h"

#include <algorithm>

#include "cli/support/terminal.h"

namespace bulkhead::cli {
namespace {

void escape_line(std::string_view raw, std::string& out) {
  for (const char c : printable(raw)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
}

}  // namespace

std::string xml_escape(std::string_view raw) {
  std::string out;
  for (std::size_t at = 0; at < raw.size();) {
    const std::size_t end = std::min(raw.find('\n', at), raw.size());
    escape_line(raw.substr(at, end - at), out);
    if (end < raw.size())
      out += '\n';
    at = end + 1;
  }
  return out;
}

}  // namespace bulkhead::cli
