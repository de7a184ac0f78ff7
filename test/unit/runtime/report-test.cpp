//===- report-test.cpp - the page of a run --------------------------------===//
//
// Errors of a damaged folder, the parts of a page, and that text of a folder
// never becomes markup.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "runtime/report/Histogram.h"
#include "runtime/report/Page.h"
#include "runtime/report/Sections.h"
#include "support/Html.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mp;
using namespace mp::test;

namespace {

//===----------------------------------------------------------------------===//
// HTML
//===----------------------------------------------------------------------===//

TEST(Html, EscapesTextAndAttributes) {
  EXPECT_EQ(escapeHtml("<script>\"a\" & 'b'</script>]]>"),
            "&lt;script&gt;&quot;a&quot; &amp; &apos;b&apos;"
            "&lt;/script&gt;]]&gt;");
  std::string text;
  llvm::raw_string_ostream os(text);
  Html(os).open("p", {{"title", "\"><b>"}}).text("</p><b>").close();
  EXPECT_EQ(text, "<p title=\"&quot;&gt;&lt;b&gt;\">&lt;/p&gt;&lt;b&gt;</p>\n");
}

TEST(Html, ReplacesWhatIsNoText) {
  EXPECT_EQ(escapeHtml("a\xff\xfe"), "a\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(escapeHtml(llvm::StringRef("a\0b\x1b[31m", 8)),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD[31m");
  EXPECT_EQ(escapeHtml("naïve\n"), "naïve\n");
}

TEST(Html, SpellsNumbers) {
  EXPECT_EQ(countText(0), "0");
  EXPECT_EQ(countText(999), "999");
  EXPECT_EQ(countText(1000), "1,000");
  EXPECT_EQ(countText(12345678), "12,345,678");
  EXPECT_EQ(pluralText(1, "step"), "1 step");
  EXPECT_EQ(shareText(0), "0");
  EXPECT_EQ(shareText(1e-9), "< 0.01%");
  EXPECT_EQ(shareText(0.0316), "3.16%");
  EXPECT_EQ(shareText(0.5), "50.0%");
  EXPECT_EQ(shortNumber(NAN), "not finite");
}

//===----------------------------------------------------------------------===//
// Files and page
//===----------------------------------------------------------------------===//

class ReportTest : public testing::Test {
protected:
  std::string fault() { return message(RunFiles::read(folder.root)); }
  std::string page() {
    std::string text;
    llvm::raw_string_ostream os(text);
    auto run = RunFiles::read(folder.root);
    if (run)
      writePage(os, *run);
    else
      ADD_FAILURE() << message(std::move(run));
    return text;
  }
  static std::string step(int64_t number, const char *loss = "1.5",
                          bool skipped = false) {
    return llvm::formatv("{{\"step\":{0},\"loss\":{1},\"scale\":1024,"
                         "\"skipped\":{2}}\n",
                         number, loss, skipped ? "true" : "false");
  }
  static size_t count(llvm::StringRef text, llvm::StringRef part) {
    return text.count(part);
  }
  TestFolder folder;
};

TEST_F(ReportTest, WantsAFileOfARun) {
  EXPECT_EQ(fault(), folder.root +
                         ": no run folder, for it has no metrics.jsonl, "
                         "summary.json, plan.json, casts.json, ledger.jsonl, "
                         "non-finite.jsonl, values.json; mp-run train --out " +
                         folder.root + " makes one");
}

TEST_F(ReportTest, NamesFileAndLineOfWhatIsBroken) {
  auto broken = [&](const char *name, const std::string &text) {
    folder.write(name, text);
    std::string message = fault();
    llvm::sys::fs::remove(folder.path(name));
    return llvm::StringRef(message).contains(folder.path(name)) ? message
                                                                : "unnamed";
  };
  EXPECT_HAS(broken("metrics.jsonl", step(1) + "{\"step\":\n" + step(3)),
             "metrics.jsonl:2: ");
  EXPECT_HAS(broken("metrics.jsonl", step(1) + "[]\n"),
             "metrics.jsonl:2: expected an object; without the line the rest "
             "can be read");
  EXPECT_HAS(broken("metrics.jsonl", step(1) + "{\"loss\":1}\n"),
             "metrics.jsonl:2: expected a number of a step");
  EXPECT_HAS(broken("metrics.jsonl", step(1) + step(2) + step(2)),
             "metrics.jsonl:3: step 2 comes after step 2");
  EXPECT_HAS(broken("metrics.jsonl", "{\"step\":1,\"a\xff\":1}\n"),
             "metrics.jsonl:1: ");
  EXPECT_HAS(broken("metrics.jsonl", std::string(1 << 20, '[') + "\n"),
             "nests deeper");
  EXPECT_HAS(broken("ledger.jsonl", "{\"step\":1}\n"), "ledger.jsonl:1: ");
  EXPECT_HAS(broken("non-finite.jsonl", "{}\n7\n"), "non-finite.jsonl:2: ");
  EXPECT_HAS(broken("summary.json", "{"), "summary.json: ");
  EXPECT_HAS(broken("plan.json", "[]"), "plan.json: expected an object");
  EXPECT_HAS(broken("casts.json", "{}"), "casts.json: expected a list");
}

TEST_F(ReportTest, LeavesOutTheHalfLineOfAKilledRun) {
  folder.write("metrics.jsonl", step(1) + step(2) + "{\"step\":3,\"lo");
  EXPECT_HAS(page(), "metrics.jsonl ends in half a line, as a killed run "
                     "leaves it; line 3 is left out.");
  folder.write("metrics.jsonl",
               step(1) + llvm::StringRef(step(2)).rtrim().str());
  EXPECT_EQ(page().find("half a line"), std::string::npos);
  RunFiles run = llvm::cantFail(RunFiles::read(folder.root));
  EXPECT_EQ(run.steps.total().steps, 2u);
}

TEST_F(ReportTest, SaysWhatToRunForWhatIsMissing) {
  folder.write("metrics.jsonl", step(1));
  std::string text = page();
  for (const char *name : {"ledger.jsonl", "casts.json", "plan.json"})
    EXPECT_HAS(text, "<code>" + std::string(name) + "</code>");
  EXPECT_HAS(text, "--ledger 100");
  EXPECT_HAS(text, "There is no summary.json yet");
  EXPECT_EQ(count(text, "class=\"missing\""), 3u);
  llvm::sys::fs::remove(folder.path("metrics.jsonl"));
  folder.write("casts.json", "[]");
  text = page();
  EXPECT_HAS(text, "<code>metrics.jsonl</code>");
  EXPECT_HAS(text, "Autocast is off");
}

TEST_F(ReportTest, SaysThatASummaryIsAnotherRuns) {
  folder.write("metrics.jsonl", step(1) + step(2));
  folder.write("summary.json", "{\"steps\":2}");
  EXPECT_EQ(page().find("has not ended"), std::string::npos);
  folder.write("summary.json", "{\"steps\":400}");
  EXPECT_HAS(page(), "summary.json is of a run that ended after step 400, and "
                     "metrics.jsonl goes to step 2");
}

TEST_F(ReportTest, MarksSkippedStepsAndLossesThatAreNotFinite) {
  folder.write("metrics.jsonl", step(1) + step(2, "null", true) +
                                    step(3, "2.5", true) + step(4) +
                                    step(5, "1", true));
  std::string text = page();
  EXPECT_EQ(count(text, "class=\"skip\""), 3u);
  EXPECT_EQ(count(text, "class=\"gap\""), 1u);
  EXPECT_HAS(text, "3 steps skipped");
  EXPECT_HAS(text, ": 2–3, 5.");
  EXPECT_HAS(text, "step 2: loss is not finite");
  EXPECT_HAS(text, "The loss scale is 2¹⁰ in every step.");
  // The line is broken at a missing loss, so it begins twice.
  llvm::StringRef line =
      llvm::StringRef(text).split("class=\"line\" d=\"").second;
  EXPECT_EQ(line.split('"').first.count('M'), 2u) << text;
}

TEST_F(ReportTest, StandsFieldsThatAreMissingOrOfAnotherKind) {
  folder.write("metrics.jsonl",
               "{\"step\":7}\n{\"step\":8,\"loss\":\"much\",\"scale\":0,"
               "\"skipped\":3,\"lr\":null}\n");
  folder.write("summary.json", "{\"steps\":\"many\",\"seed\":-1}");
  folder.write(
      "plan.json",
      "{\"bytes\":{\"weights\":-4,\"total\":null},\"peak\":{\"steps\":0,"
      "\"values\":[{},3,{\"bytes\":9,\"last_step\":5}]}}");
  folder.write("casts.json", "[{},1,{\"ops\":[{\"casts\":[{}]},2]}]");
  folder.write("ledger.jsonl",
               "{\"step\":7,\"scale\":null,\"gradients\":[{},1],\"all\":{"
               "\"normal\":3,\"exponents\":{\"high\":1,\"999999\":2,\"-1100\":"
               "1,\"-5\":3}}}\n");
  folder.write("non-finite.jsonl",
               "{}\n{\"operands\":[{}],\"result\":{\"least\":null}}\n");
  std::string text = page();
  EXPECT_HAS(text, "2 steps by the op");
  EXPECT_HAS(text, "In no step the loss was finite.");
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf\""), std::string::npos);
}

TEST_F(ReportTest, ShowsTheLastLedgerWithWhatLosesMostFirst) {
  auto gradient = [](const char *of, int flushed) {
    return llvm::formatv("{{\"of\":\"{0}\",\"type\":\"f16\",\"normal\":100,"
                         "\"flushed\":{1}}",
                         of, flushed)
        .str();
  };
  auto line = [&](int number, const std::string &gradients) {
    return llvm::formatv(
               "{{\"step\":{0},\"scale\":1024,\"gradients\":[{1}],"
               "\"all\":{{\"normal\":200,\"exponents\":{{\"-9\":200}}}\n",
               number, gradients)
        .str();
  };
  folder.write("ledger.jsonl", line(1, gradient("mp.early", 7)) +
                                   line(2, gradient("mp.little", 1) + "," +
                                               gradient("mp.much", 90)));
  std::string text = page();
  EXPECT_EQ(text.find("mp.early"), std::string::npos);
  EXPECT_LT(text.find("mp.much"), text.find("mp.little"));
  EXPECT_HAS(text, "At step 2, with a loss scale of 2¹⁰");
  EXPECT_HAS(text, "2⁻⁹ to 2⁻⁸, normal in f16: 100.0%, 200 elements");
}

TEST_F(ReportTest, RecommendsOneScaleAndNamesWhatWantsAnother) {
  folder.write(
      "ledger.jsonl",
      R"({"step":9,"scale":1024,"gradients":[)"
      R"({"of":"mp.alike","exponents":{"-20":4},"advice":{"scale":1048576,"text":"2^20 suits: f16"}},)"
      R"({"of":"mp.few","normal":400,"exponents":{"-45":3,"-5":397},"advice":{"scale":2097152,"text":"2^21 suits"}},)"
      R"({"of":"mp.small","normal":4,"exponents":{"-45":3,"-40":1},"advice":{"scale":2097152,"text":"2^21 suits"}},)"
      R"({"of":"mp.never","advice":{"scale":null,"text":"all elements are zero"}}],)"
      R"("all":{"normal":5},"advice":{"scale":131072,"text":"train with --scaler static:131072, and all may grow by 2^6"}})"
      "\n");
  std::string text = page();
  EXPECT_HAS(text, "<strong>Recommended loss scale: 2¹⁷.</strong> train with "
                   "--scaler static:131072, and all may grow by 2⁶");
  EXPECT_EQ(text.find("suits"), std::string::npos);
  EXPECT_HAS(text, "2²¹ would keep 3 elements that become zero at 2¹⁷");
  EXPECT_EQ(count(text, "would keep"), 1u);
  EXPECT_HAS(text, "all elements are zero");
  EXPECT_EQ(text.find("2^"), std::string::npos);
}

TEST_F(ReportTest, NamesAKernelByItsFirstAndHeaviestOp) {
  folder.write(
      "plan.json",
      R"({"bytes":{"total":8},"peak":{"summary":"linear relu mul","values":[)"
      R"({"bytes":4,"summary":"add"},)"
      R"({"bytes":4,"summary":"compare mul softmax add"},)"
      R"({"bytes":4,"summary":"temporary of sum div"}]}})");
  std::string text = page();
  EXPECT_HAS(text, "<code title=\"linear relu mul\">linear</code> + 2 ops");
  EXPECT_HAS(text, "<code title=\"add\">add</code><");
  EXPECT_HAS(text, "<code title=\"compare mul softmax add\">compare</code> ... "
                   "<code title=\"compare mul softmax add\">softmax</code> + "
                   "2 ops");
  EXPECT_HAS(text, "<code title=\"temporary of sum div\">temporary of "
                   "sum</code> + 1 op<");
}

TEST(Svg, SpellsPowersInOneWay) {
  EXPECT_EQ(scalePower(131072), "2¹⁷");
  EXPECT_EQ(scalePower(0.25), "2⁻²");
  EXPECT_EQ(scalePower(1), "1");
  EXPECT_EQ(scalePower(1000), "1000");
  EXPECT_EQ(withPowers("from 2^-24 to 2^6; 12^3, 2^x, 2^"),
            "from 2⁻²⁴ to 2⁶; 12^3, 2^x, 2^");
}

TEST_F(ReportTest, IsNamedByTheFileWhereTheModuleHasNoName) {
  folder.write("summary.json", R"({"module":"","file":"nets/small.mlir"})");
  EXPECT_HAS(page(), "<title>small.mlir - Mantissa</title>");
  folder.write("summary.json", R"({"module":"m","file":"nets/small.mlir"})");
  EXPECT_HAS(page(), "<title>m - Mantissa</title>");
}

TEST_F(ReportTest, HasOneTotalOfPlannedMemory) {
  folder.write("summary.json", R"({"planned_bytes":4096})");
  EXPECT_HAS(page(), "<dt>planned memory</dt><dd>4.0 KiB</dd>");
  folder.write("plan.json", R"({"bytes":{"weights":6144,"total":8192}})");
  std::string text = page();
  EXPECT_HAS(text, "<dt>planned memory</dt><dd>8.0 KiB</dd>");
  EXPECT_HAS(text, "8.0 KiB in all");
  EXPECT_EQ(text.find("4.0 KiB"), std::string::npos);
}

TEST_F(ReportTest, SaysWhatIsKnownOfValuesThatAreNotFinite) {
  folder.write(
      "non-finite.jsonl",
      R"({"step":17,"where":"forward","op":"mp.exp",)"
      R"("source":"a/net.mlir:7:8","text":"it is","result":)"
      R"({"nonfinite":3,"elements":640,"least":-1,"largest":9},)"
      R"("operands":[{"name":"%x","elements":1,"finite":true,"magnitude":98.5},)"
      R"({"name":"%y","elements":2,"finite":false},{"name":"%z"},{"name":"%n","elements":2,"nonfinite":0}],"samples":"samples 0 to 9"})"
      "\n");
  std::string text = page();
  EXPECT_HAS(text, "1 step by the op");
  EXPECT_HAS(text, "title=\"a/net.mlir:7:8\">net.mlir:7:8<");
  EXPECT_HAS(text, "result: 3 of 640 elements not finite; from -1 to 9<");
  EXPECT_HAS(text, "%x</code>: 1 element, all finite; at most 98.5<");
  EXPECT_HAS(text, "%y</code>: 2 elements, not all finite<");
  EXPECT_HAS(text, "%z</code>: <");
  EXPECT_HAS(text, "%n</code>: 2 elements, all finite<");
  EXPECT_HAS(text, "samples 0 to 9");
}

/// An overflow at a loss scale recurs in many steps, at one op.
TEST_F(ReportTest, PutsFindingsOfOnePlaceTogether) {
  auto line = [](int step, const char *op) {
    return llvm::formatv("{{\"step\":{0},\"op\":\"{1}\",\"where\":\"forward\","
                         "\"sample\":{0},\"text\":\"<of {0}>\"}\n",
                         step, op)
        .str();
  };
  folder.write("non-finite.jsonl", line(3, "mp.exp") + line(4, "mp.log") +
                                       line(5, "mp.exp") +
                                       line(1200, "mp.exp"));
  std::string text = page();
  EXPECT_HAS(text, "4 steps by the op where that began");
  EXPECT_HAS(text, ">3 to 1,200<small>3 steps<");
  EXPECT_HAS(text, "&lt;of 3&gt;<div>first in sample 3 of the data<");
  EXPECT_EQ(text.find("of 5"), std::string::npos);
  EXPECT_HAS(text, "number\">4</td>");
}

TEST_F(ReportTest, ShowsTheValuesOfAStep) {
  folder.write("metrics.jsonl", step(1));
  EXPECT_EQ(page().find("Values of a step"), std::string::npos);
  folder.write(
      "values.json",
      R"({"step":2000,"values":[{"name":"mp.<b>","source":"a/n.mlir:1:2",)"
      R"("where":"forward","type":"4xf16","nonfinite":3,"least":-1,)"
      R"("largest":2.5},{"name":"mp.log"},7]})");
  std::string text = page();
  EXPECT_HAS(text, "2 values of step 2,000: their ranges");
  EXPECT_HAS(text, "<code>mp.&lt;b&gt;</code><small title=\"a/n.mlir:1:2\">");
  EXPECT_HAS(text, ">3</td><td class=\"number\">-1</td>"
                   "<td class=\"number\">2.5</td>");
  EXPECT_EQ(text.find("<td class=\"number\">not finite"), std::string::npos);
  folder.write("values.json", "[]");
  EXPECT_HAS(fault(), "values.json: expected an object");
}

TEST(Histogram, ColoursBySizeTimesTheScale) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Html html(os);
  drawHistogram(html, {{{-30, 10}, {-20, 20}, {0, 30}, {20, 5}}, 35}, 1);
  EXPECT_HAS(text, "2⁻³⁰ to 2⁻²⁹, zero in f16: 10.0%");
  EXPECT_HAS(text, "2⁻²⁰ to 2⁻¹⁹, subnormal in f16: 20.0%");
  EXPECT_HAS(text, "2²⁰ to 2²¹, infinite in f16: 5.00%");
  EXPECT_HAS(text, "35.0% are zero, 10.0% become zero in f16, 20.0% become "
                   "subnormal and 5.00% infinite");
  text.clear();
  drawHistogram(html, {{{-30, 10}, {-20, 20}}}, 65536);
  EXPECT_HAS(text, "2⁻³⁰ to 2⁻²⁹, normal in f16");
  text.clear();
  drawHistogram(html, {}, 1);
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

/// A scale need not be a power of two, and the headroom is the calibration's.
TEST(Histogram, IsAtTheScaleAndHeadroom) {
  std::string text =
      histogramPicture("", {{{-24, 1}, {12, 1}}, 0, 4}, {1, 0.3, 0.01});
  EXPECT_HAS(text, "2⁻²⁴ to 2⁻²³, subnormal in f16");
  EXPECT_HAS(text, "2⁻²⁴ to 2⁻²³, zero in f16");
  EXPECT_HAS(text, "2¹² to 2¹³, near overflow in f16");
  EXPECT_HAS(text, "2¹² to 2¹³, normal in f16");
  EXPECT_HAS(text, "with a loss scale of 0.3");
}

TEST(Histogram, IsAPictureThatFetchesNothing) {
  std::string svg =
      histogramPicture("<script>&\"\x01\xff]]>", {{{0, 1}}}, {1, 8});
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
  EXPECT_EQ(svg.find('\xff'), std::string::npos);
  EXPECT_HAS(svg, "&lt;script&gt;&amp;&quot;");
  EXPECT_EQ(llvm::StringRef(svg).count("http"), 1u); // the namespace
  EXPECT_EQ(svg.find("href"), std::string::npos);
  EXPECT_EQ(llvm::StringRef(svg).count("class=\"panel\""), 2u);
  // On one axis a bar is at one place.
  llvm::StringRef first =
      llvm::StringRef(svg).split("rect class=\"normal\"").second;
  llvm::StringRef second = first.split("rect class=\"normal\"").second;
  EXPECT_EQ(first.take_until([](char c) { return c == '>'; }),
            second.take_until([](char c) { return c == '>'; }));
}

TEST_F(ReportTest, ShowsNoMarkupOfTheUsers) {
  const std::string name = R"(<script>x</script>\"'&]]>--></style></title>)";
  folder.write("metrics.jsonl",
               "{\"step\":1,\"loss\":1,\"" + name + "\":3}\n{\"step\":2}\n");
  folder.write(
      "summary.json",
      llvm::formatv("{{\"module\":\"{0}\",\"file\":\"{0}\",\"policy\":\"{0}\","
                    "\"test_{0}\":1}",
                    name));
  folder.write("casts.json",
               llvm::formatv("[{{\"function\":\"{0}\",\"policy\":\"{0}\","
                             "\"ops\":[{{\"op\":\"{0}\","
                             "\"why\":\"{0}\",\"runs_in\":\"{0}\"}]}]",
                             name));
  std::string text = page();
  EXPECT_EQ(text.find("<script"), std::string::npos);
  EXPECT_EQ(text.find("--></"), std::string::npos);
  EXPECT_EQ(count(text, "</style>"), 2u); // of all pages, and of this one
  EXPECT_GE(count(text, "&lt;script&gt;x&lt;/script&gt;&quot;&apos;&amp;"), 9u);
}

TEST_F(ReportTest, ShowsARunFolderOfAnyBytes) {
  std::string odd = folder.path("r\xff<b>");
  ASSERT_FALSE(llvm::sys::fs::create_directory(odd));
  std::ofstream(odd + "/metrics.jsonl") << step(1);
  std::string text;
  llvm::raw_string_ostream os(text);
  writePage(os, llvm::cantFail(RunFiles::read(odd)));
  EXPECT_HAS(text, "r\xEF\xBF\xBD&lt;b&gt;");
  EXPECT_TRUE(llvm::json::isUTF8(text));
}

TEST_F(ReportTest, StaysSmall) {
  std::string metrics,
      ledger = "{\"step\":1,\"scale\":1,\"all\":{},\"gradients\":[";
  for (int i = 1; i <= 20000; ++i)
    metrics += step(i, "0.25", i % 2);
  for (int i = 0; i < 5000; ++i)
    ledger += std::string(i ? "," : "") + "{\"of\":\"mp.linear\",\"normal\":5}";
  folder.write("metrics.jsonl", metrics);
  folder.write("ledger.jsonl", ledger + "]}\n");
  std::string text = page();
  EXPECT_LT(text.size(), 1u << 20);
  EXPECT_HAS(text, "5,000 gradients, those that lose most first; the first "
                   "150 are shown");
  EXPECT_HAS(text, "and 9,980 more such rows");
}

} // namespace
