// How long from the text of a site to its ruleset. The arguments are flows.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <climits>

#include "compiler/compile.h"
#include "compiler/ir.h"
#include "compiler/proof/written_proof.h"
#include "compiler/targets/nftables.h"
#include "generated_site.h"

namespace bulkhead::bench {
namespace {

constexpr auto kAsOf = std::chrono::year(2026) / 12 / 1;

std::string ruleset(const compiler::Site& site) {
  return compiler::nftables(compiler::ir::make_enforcer(site, site.coverage.views.front())).text;
}

void from_text_to_ruleset(benchmark::State& state) {
  const Generated generated = many_flows(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    const compiler::Site site = compiler::load_site(generated.reader(), kAsOf);
    if (!site.ok())
      state.SkipWithError("the generated site has errors");
    benchmark::DoNotOptimize(ruleset(site));
  }
}
BENCHMARK(from_text_to_ruleset)
    ->Arg(5'000)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond);

// Everything that `bulkhead compile` writes, the probe plan included.
void from_text_to_artifacts(benchmark::State& state) {
  const Generated generated = many_flows(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state)
    benchmark::DoNotOptimize(compiler::compile(compiler::load_site(generated.reader(), kAsOf), {}));
}
BENCHMARK(from_text_to_artifacts)
    ->Arg(5'000)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond);

// As `bulkhead compile` does it: proven for all packets before anything is written.
void from_text_to_proven_artifacts(benchmark::State& state) {
  const Generated generated = many_flows(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    const compiler::Site site = compiler::load_site(generated.reader(), kAsOf);
    const auto proofs = compiler::proof::prove_written(site, compiler::compile(site, {}));
    if (!proofs.front().holds())
      state.SkipWithError("not equal");
  }
}
BENCHMARK(from_text_to_proven_artifacts)
    ->Arg(5'000)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond);

void read_and_check(benchmark::State& state) {
  const Generated generated = many_flows(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state)
    benchmark::DoNotOptimize(compiler::load_site(generated.reader(), kAsOf));
}
BENCHMARK(read_and_check)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void emit(benchmark::State& state) {
  const Generated generated = many_flows(static_cast<std::size_t>(state.range(0)));
  const compiler::Site site = compiler::load_site(generated.reader(), kAsOf);
  for (auto _ : state)
    benchmark::DoNotOptimize(ruleset(site));
}
BENCHMARK(emit)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bulkhead::bench

// A process compiles once; a loop does it many times. Between two turns malloc gives the memory of
// a large site back to the kernel, which zeroes it again, and keeps that of a small one: the growth
// would be that of page faults. So both keep it.
int main(int argc, char** argv) {
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_MMAP_THRESHOLD, INT_MAX);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
