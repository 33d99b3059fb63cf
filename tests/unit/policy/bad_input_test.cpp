// Input that no person writes on purpose: a clear error each, never a crash, never a wait.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "tests/unit/policy/checked.h"

namespace bulkhead::policy {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string repeated(const std::string& text, int times) {
  std::string out;
  out.reserve(text.size() * static_cast<std::size_t>(times));
  for (int i = 0; i < times; ++i)
    out += text;
  return out;
}

// Of this process: a busy machine is not a slow parser.
double cpu_seconds_since(std::clock_t begin) {
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(BadInput, TheCommonestSlipsOfTomlHaveAHint) {
  const std::pair<const char*, const char*> cases[] = {
      {"id = F1\n", "text stands in quotes: id = \"F1\""},
      {"name = two-tenants # mine\n", "text stands in quotes: name = \"two-tenants\""},
      {"name = \"a\nx = 1\n", "a string is not closed on this line"},
      {"x = [\"a\", \"b]\ny = 1\n", "a string is not closed on this line"},
      {"both_ways = True\n", "small letters"},
  };
  for (const auto& [text, hint] : cases)
    EXPECT_THAT(check({{"policy.toml", text}}, {}).rendered(), HasSubstr(hint)) << text;
}

TEST(BadInput, AnIncludeThatIsRefusedIsTheOneMistake) {
  const Checked checked = check({{"policy.toml",
                                  "name = \"s\"\n"
                                  "include = [{ file = \"../alpha.toml\", tenant = \"alpha\" }]\n"
                                  "[segment.a]\ntenant = \"alpha\"\nvlan = 5\n"
                                  "v4 = \"10.1.0.0/24\"\ninside = \"open\"\n"}},
                                {"a"});
  EXPECT_THAT(checked.codes(), ElementsAre("bad-path")) << checked.rendered();
}

TEST(BadInput, AnAddressAloneIsNoPrefix) {
  const Checked checked = check_base(
      "[segment.bare]\ntenant = \"red\"\nvlan = 999\n"
      "v4 = \"10.20.2.0\"\ninside = \"open\"\n");
  EXPECT_THAT(checked.codes(), ElementsAre("bad-prefix")) << checked.rendered();
  EXPECT_THAT(checked.rendered(), HasSubstr("write `10.20.2.0/24`, or `10.20.2.0/32`"));
}

TEST(BadInput, EachHasItsCode) {
  const std::string megabytes(10 << 20, 'x');
  const std::pair<std::string, const char*> cases[] = {
      {"[[flow]\n", "toml-syntax"},
      {"x = 'never closed\n", "toml-syntax"},
      {"name = \"\"\"" + megabytes, "toml-syntax"},
      {std::string("name = \"a\0b\"\n", 13), "toml-syntax"},
      {"name = \"a\xc3\x28\"\n", "not-utf8"},
      {"name = \"a\xed\xa0\x80\"\n", "not-utf8"},
      {"\xfe\xff\0n\0a", "not-utf8"},
      {"name = \"" + megabytes + "\"\n", "bad-name"},
      {"name = \"x\"\n[tenant." + megabytes + "]\n", "bad-name"},
      {"name = \"x\"\n" + megabytes + " = 1\n", "unknown-key"},
      {"a = " + repeated("[", 100000), "toml-syntax"},
      {"a = " + repeated("{ a = ", 100000), "toml-syntax"},
      {repeated("a.", 100000) + "a = 1\n", "nested-too-deeply"},
      {"[" + repeated("a.", 100000) + "a]\n", "nested-too-deeply"},
      {"[" + repeated("\"a\".", 100000) + "a]\n", "nested-too-deeply"},
      {"a = { " + repeated("a.", 100000) + "a = 1 }\n", "nested-too-deeply"},
      {std::string((16 << 20) + 1, '\n'), "file-too-large"},
      {"name = \"x\"\nname = \"y\"\n", "toml-syntax"},
      {"name = \"x\"\rtenant = 1\n", "toml-syntax"},
      {"", "missing-key"},
      {"name = 3\n", "wrong-type"},
      {"name = \"x\"\nflow = 1\n", "wrong-type"},
      {"name = \"x\"\nflow = [1]\n", "wrong-type"},
      {"name = \"x\"\nsegment = []\n", "wrong-type"},
      {"name = \"x\"\nsegment.a = 1\n", "wrong-type"},
      {"name = \"x\"\ntenant.a.owner = { b = 1 }\n", "wrong-type"},
      {"name = \"x\"\nvrf.a = { table = 9999999999 }\n", "out-of-range"},
      {"name = \"x\"\nvrf.a = { table = -1 }\n", "out-of-range"},
      {"name = \"x\"\nvrf.a = { table = 1, leaks = 1 }\n", "wrong-type"},
      {"name = \"x\"\nservice.a.tcp = { b = 1 }\n", "wrong-type"},
      {"name = \"x\"\nservice.a.tcp = [[22]]\n", "wrong-type"},
      {"name = \"x\"\nservice.a.tcp = 99999999999999999999\n", "toml-syntax"},
      {"name = \"x\"\nservice.a.tcp = \"99999999999999999999\"\n", "bad-port"},
  };
  for (const auto& [text, code] : cases) {
    const std::clock_t begin = std::clock();
    const Checked checked = check({{"policy.toml", text}}, {});
    EXPECT_THAT(checked.codes(), ElementsAre(code)) << text.substr(0, 60);
    EXPECT_LT(checked.rendered().size(), 4096U) << text.substr(0, 60);
    EXPECT_LT(cpu_seconds_since(begin), 20) << text.substr(0, 60);  // generous: sanitizers
  }
}

// One run shows all semantic mistakes, of every file.
TEST(BadInput, AllMistakesAtOnce) {
  const Checked checked = check_base(
      "[segment.x]\ntenant = \"rad\"\nvlan = 5000\nv4 = \"10.9.0.1/24\"\nwho = 1\n"
      "[[flow]]\nid = \"F\"\nfrom = \"red-b\"\nto = \"bleu-a\"\nservices = [\"shh\"]\n");
  EXPECT_THAT(checked.codes(),
              ElementsAre("host-bits", "inside-missing", "out-of-range", "unknown-key",
                          "unknown-name", "unknown-name", "unknown-name", "unknown-name"));
}

TEST(BadInput, ManyMistakesAreStillQuick) {
  std::string text = kBasePolicy;
  for (int i = 0; i < 5000; ++i)
    text += "[[flow]]\nid = \"F" + std::to_string(i) +
            "\"\nfrom = \"red-b\"\nto = \"bleu-a\"\nservices = [\"shh\"]\nwhy = \"\u00fc\"\n";
  const std::clock_t begin = std::clock();
  const Checked checked = check({{"policy.toml", text}}, kBaseClasses);
  EXPECT_EQ(checked.diagnostics.error_count(), 15000U);
  EXPECT_GT(checked.rendered().size(), 1000000U);
  // Quadratic in the file this would take minutes.
  EXPECT_LT(cpu_seconds_since(begin), 30);
}

TEST(BadInput, ByteOrderMarkAndCrlfAreNotMistakes) {
  std::string text = "\xef\xbb\xbf";
  for (const char* c = kBasePolicy; *c; ++c)
    text += *c == '\n' ? std::string("\r\n") : std::string(1, *c);
  EXPECT_THAT(check({{"policy.toml", text}}, kBaseClasses).codes(), IsEmpty());
}

// A folder of its own, removed again.
class Folder : public testing::Test {
 protected:
  Folder() {
    fs::remove_all(path_);
    fs::create_directories(path_ / "site");
  }
  ~Folder() override { fs::remove_all(path_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    const auto text = folder_reader(path_ / "site")(name);
    return text ? "text: " + *text : text.error().message;
  }
  const fs::path path_ =
      fs::temp_directory_path() / ("bulkhead-unit-folder-" + std::to_string(getpid()));
};

TEST_F(Folder, OnlyRegularFilesOfTheSiteAreRead) {
  write("site/a.toml", "a");
  write("outside.toml", "secret");
  fs::create_directory(path_ / "site/sub");
  fs::create_symlink("../outside.toml", path_ / "site/link.toml");
  fs::create_symlink("/etc", path_ / "site/etc");
  fs::create_symlink("a.toml", path_ / "site/inner.toml");
  fs::create_symlink("loop.toml", path_ / "site/loop.toml");
  ASSERT_EQ(mkfifo((path_ / "site/fifo").c_str(), 0600), 0);

  EXPECT_EQ(read("a.toml"), "text: a");
  EXPECT_EQ(read("./a.toml"), "text: a");
  EXPECT_EQ(read("inner.toml"), "text: a");
  EXPECT_THAT(read("link.toml"), HasSubstr("leads out"));
  EXPECT_THAT(read("etc/passwd"), HasSubstr("leads out"));
  EXPECT_THAT(read("../outside.toml"), HasSubstr("leads out"));
  EXPECT_THAT(read("/etc/passwd"), HasSubstr("absolute"));
  EXPECT_THAT(read("loop.toml"), HasSubstr("cannot read"));
  EXPECT_THAT(read("missing.toml"), HasSubstr("No such file"));
  EXPECT_THAT(read("sub"), HasSubstr("not a regular file"));
  EXPECT_THAT(read("fifo"), HasSubstr("not a regular file"));
}

TEST_F(Folder, OfAHugeFileNoMoreIsReadThanShowsThatItIs) {
  write("site/policy.toml", "a");
  fs::resize_file(path_ / "site/policy.toml", 1 << 30);
  const auto text = folder_reader(path_ / "site")("policy.toml");
  ASSERT_TRUE(text);
  EXPECT_GT(text->size(), kLargestFile);
  EXPECT_LT(text->size(), kLargestFile + (1 << 20));

  SourceMap sources;
  Diagnostics diagnostics;
  (void)parse_policy(folder_reader(path_ / "site"), "", sources, diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1U);
  EXPECT_EQ(diagnostics.all()[0].code, "file-too-large");
}

TEST_F(Folder, ASiteThatIsNotThereIsOneDiagnostic) {
  SourceMap sources;
  Diagnostics diagnostics;
  (void)parse_policy(folder_reader(path_ / "nowhere"), "nowhere/", sources, diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1U);
  EXPECT_EQ(diagnostics.all()[0].code, "cannot-read");
  EXPECT_THAT(render(diagnostics, sources, false), HasSubstr("nowhere/policy.toml: error"));
}

}  // namespace
}  // namespace bulkhead::policy
