#include "cli/support/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/support/options.h"
#include "cli/support/progress.h"
#include "cli/support/terminal.h"

namespace bulkhead::cli {
namespace {

using testing::HasSubstr;

struct Mistake {
  std::vector<std::string> words;
  const char* told;
};

TEST(CommandLine, EachMistakeIsToldWithAHint) {
  const Mistake kMistakes[] = {
      {{}, "see `bulkhead --help`"},
      {{"chek", "s"}, "did you mean `check`?"},
      {{"frobnicate"}, "see `bulkhead --help`"},
      {{"lab"}, "`lab up`, `lab list`, `lab down`, `lab exec`"},
      {{"import", "xls", "f"}, "`import csv`"},
      {{"check"}, "`check` takes: SITE"},
      {{"check", "a", "b"}, "`check` takes: SITE"},
      {{"check", "s", "--fromat", "json"}, "did you mean `--format`?"},
      {{"check", "s", "--out", "x"}, "no option `--out`"},
      {{"check", "s", "--format"}, "`--format` wants a value"},
      {{"check", "s", "--quiet=1"}, "`--quiet` wants no value"},
      {{"check", "s", "--format", "junit"}, "there is text, json"},
      {{"check", "s", "--as-of", "2026-02-30"}, "a day that exists"},
      {{"check", "s", "--color", "pink"}, "auto, always or never"},
      {{"check", "s", "--", "ls"}, "`check` takes: SITE"},
      {{"audit", "s", "--on", "labs"}, "lab or live"},
      {{"audit", "s", "--seed", "-1"}, "a seed is a number"},
      {{"audit", "s", "--timeout", "0"}, "90, 90s or 5m"},
      {{"audit", "s", "--fail-on", "leek"}, "did you mean `leak`?"},
      {{"diff", "a", "b", "--fail-on", "leak"}, "opened, closed or any"},
      {{"diff", "a"}, "`diff` takes: BEFORE AFTER"},
      {{"audit", "s", "--min-coverage", "101"}, "0 to 100"},
      {{"audit", "s", "--run", "A_b"}, "a-z and 0-9"},
      {{"explain", "s", "--tcp", "0"}, "1 to 65535"},
      {{"explain", "s", "--tcp", "22", "--udp", "53"}, "one question at a time"},
      {{"explain", "s", "--icmp", "ecko"}, "echo, timestamp"},
  };
  for (const Mistake& mistake : kMistakes) {
    const auto line = parse_command_line(mistake.words);
    ASSERT_FALSE(line) << testing::PrintToString(mistake.words);
    EXPECT_EQ(line.error().kind, ErrorKind::Usage);
    EXPECT_THAT(line.error().message, HasSubstr(mistake.told));
  }
}

TEST(CommandLine, OneWordOfTwoHasAHelpPage) {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"lab", "--help"}, {"help", "lab"}}) {
    const auto line = parse_command_line(words);
    ASSERT_TRUE(line) << line.error().message;
    EXPECT_TRUE(line->help);
    EXPECT_THAT(help_page(*line), HasSubstr("lab exec"));
    EXPECT_THAT(help_page(*line), testing::Not(HasSubstr("import csv")));
  }
}

TEST(CommandLine, TakesValues) {
  const auto line = parse_command_line({"audit", "site", "--on=live", "--timeout", "5m", "-qv",
                                        "--include", "red,blue", "--include", "tcp", "-o", "x",
                                        "--fail-on", "outage,silent", "--seed", "9"});
  ASSERT_TRUE(line) << line.error().message;
  const Settings& settings = line->settings;
  EXPECT_EQ(line->verb->name, "audit");
  EXPECT_THAT(settings.arguments, testing::ElementsAre("site"));
  EXPECT_EQ(settings.on, scenarios::Where::Live);
  EXPECT_EQ(settings.timeout, std::chrono::minutes(5));
  EXPECT_TRUE(settings.quiet && settings.verbose);
  EXPECT_THAT(settings.include, testing::ElementsAre("red", "blue", "tcp"));
  EXPECT_EQ(settings.output, "x");
  EXPECT_THAT(settings.fail_on,
              testing::ElementsAre(probes::Finding::Outage, probes::Finding::Silent));
  EXPECT_EQ(settings.seed, 9U);
  EXPECT_EQ(settings.format, "text");
}

TEST(CommandLine, LeavesTheCommandOfExecAlone) {
  const auto line = parse_command_line(
      {"lab", "exec", "site", "fw", "--run", "demo", "--", "nft", "--check", "-f", "x"});
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_THAT(line->settings.arguments, testing::ElementsAre("site", "fw"));
  EXPECT_THAT(line->settings.command, testing::ElementsAre("nft", "--check", "-f", "x"));
}

TEST(CommandLine, UdpToTheRocePortIsRoce) {
  const auto line = parse_command_line({"explain", "s", "--udp", "4791"});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->settings.traffic->kind, policy::Kind::Roce);
}

TEST(Verbs, NameOnlyOptionsThatExist) {
  for (const Verb& verb : verbs()) {
    for (const std::string_view option : verb.options)
      EXPECT_NE(find_option(option, verb.name), nullptr) << verb.name << " " << option;
    EXPECT_EQ(verb.formats.empty(),
              std::find(verb.options.begin(), verb.options.end(), "format") == verb.options.end())
        << verb.name;
  }
}

TEST(Help, OfEveryVerbHasAnExample) {
  for (const Verb& verb : verbs()) {
    const std::string page = help_page(CommandLine{&verb, true, {}, {}});
    EXPECT_THAT(page, HasSubstr("\nExample:\n  ")) << verb.name;
    EXPECT_THAT(page, HasSubstr("bulkhead " + std::string(verb.name))) << verb.name;
    EXPECT_THAT(help_page(CommandLine{}), HasSubstr(std::string(verb.summary)));
  }
}

TEST(Terminal, ShortensInTheMiddle) {
  EXPECT_EQ(shorten("acme-fe", 7), "acme-fe");
  EXPECT_EQ(shorten("acme-fe.compute", 9), "acme…pute");
  EXPECT_EQ(columns(shorten("ä-ö-ü-ß-→-…", 5)), 5U);
}

TEST(Terminal, ShowsNoControlCharacters) {
  EXPECT_EQ(printable("a\x1b[31m\xff\xc3(\xe2\x86\x92"),
            "a?[31m?"
            "?(→");
}

TEST(Progress, EstimatesOnlyWhenItMeansSomething) {
  using std::chrono::milliseconds;
  EXPECT_EQ(progress_text("probe", 0, 0, milliseconds(0)), "probe");
  EXPECT_THAT(progress_text("probe", 50, 200, milliseconds(500)),
              testing::AllOf(HasSubstr(" 25 %  50/200"), testing::Not(HasSubstr("left"))));
  EXPECT_THAT(progress_text("probe", 50, 200, milliseconds(2000)), HasSubstr("6 s left"));
}

}  // namespace
}  // namespace bulkhead::cli
