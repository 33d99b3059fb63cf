// usage: bench_ruleset flows|sources|ports|prefixes SIZE
// Compiles a generated site, probe plan and all, and writes its ruleset.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "compiler/compile.h"
#include "generated_site.h"

namespace {

struct Kind {
  std::string_view name;
  bulkhead::bench::Generated (*make)(std::size_t);
};
constexpr Kind kKinds[] = {
    {"flows", [](std::size_t n) { return bulkhead::bench::many_flows(n); }},
    {"sources", bulkhead::bench::many_sources},
    {"ports", bulkhead::bench::many_ports},
    {"prefixes", bulkhead::bench::many_prefixes},
};

}  // namespace

int main(int argc, char** argv) {
  using namespace bulkhead;
  for (const Kind& kind : kKinds) {
    if (argc != 3 || kind.name != argv[1])
      continue;
    const auto generated = kind.make(std::strtoul(argv[2], nullptr, 10));
    const auto site = compiler::load_site(generated.reader(), std::chrono::year(2026) / 12 / 1);
    if (!site.ok()) {
      std::fputs(render(site.diagnostics, site.sources, false).substr(0, 4000).c_str(), stderr);
      return 2;
    }
    const auto artifacts = compiler::compile(site, {});
    std::fputs(artifacts.files.front().text.c_str(), stdout);
    for (const auto& file : artifacts.files)
      std::fprintf(stderr, "%s %zu bytes  ", file.path.c_str(), file.text.size());
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    std::fprintf(stderr, "peak %ld KiB\n", usage.ru_maxrss);
    return 0;
  }
  std::fputs("usage: bench_ruleset flows|sources|ports|prefixes SIZE\n", stderr);
  return 2;
}
