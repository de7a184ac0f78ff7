//===- PageStyle.cpp - the style sheet that all pages share ---------------===//
#include "support/HtmlPage.h"

namespace mp {

const llvm::StringLiteral kPageStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --text: #1c2430; --soft: #5c6773;
  --rule: #dfe3e8; --grid: #e7eaee; --accent: #1f6feb;
  --line: #1f5fbf; --skip: #d4380d; --gap: #a8071a;
  --f16: #e08600; --bf16: #2f7ed8; --f32: #5b6b7c; --tf32: #13876f;
  --f8: #b5308c; --f64: #2b3440; --none: #c3cad2;
  --int: #1f8a5b; --i1: #b59b00;
  --zero: #b4bcc6; --flushed: #d4380d; --subnormal: #e0a800; --normal: #2f7ed8;
  --near: #8e5bd0; --overflow: #a8071a; --nonfinite: #1c2430;
  --range: #2f7ed8; --memory: #13876f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1a2029; --text: #e4e9ef; --soft: #9aa6b4;
    --rule: #2c3542; --grid: #262f3b; --accent: #6cabff;
    --line: #6cabff; --skip: #ff7a45; --gap: #ff6b7c;
    --f16: #ffb038; --bf16: #6cabff; --f32: #93a3b5; --tf32: #3fc7a5;
    --f8: #e878c3; --f64: #dfe5ec; --none: #485463;
    --int: #4cc38a; --i1: #e5cf45;
    --zero: #5d6a79; --flushed: #ff7a45; --subnormal: #f0c33c; --normal: #5b9df0;
    --near: #b48cf0; --overflow: #ff6b7c; --nonfinite: #e4e9ef;
    --range: #6cabff; --memory: #3fc7a5;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 66rem;
  background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
  overflow-wrap: anywhere;
}
h1 { margin: 0; font-size: 1.7rem; line-height: 1.2; }
h2 { margin: 0 0 .6rem; font-size: 1.15rem; }
h3 { margin: 1.4rem 0 .4rem; font-size: 1rem; }
p { margin: .4rem 0; max-width: 48rem; }
code { font: .92em/1.4 ui-monospace, "DejaVu Sans Mono", Consolas, monospace; }
h1, dd, td, th, code, li { unicode-bidi: isolate; }
small { display: block; color: var(--soft); font-weight: 400; font-size: .82rem; }
.about, footer { color: var(--soft); font-size: .88rem; }
.note, .missing, .advice {
  padding: .5rem .8rem; border-left: 3px solid var(--subnormal);
  background: var(--card); border-radius: 0 6px 6px 0;
}
.missing { border-color: var(--rule); background: none; color: var(--soft); }
.advice { border-color: var(--accent); background: none; }
.missing code { display: block; margin-top: .3rem; color: var(--text); }
nav { margin: .8rem 0 1rem; }
nav a { margin-right: 1rem; color: var(--accent); text-underline-offset: 3px; }
section, .facts {
  margin: 0 0 1rem; padding: 1.1rem 1.2rem; background: var(--card);
  border: 1px solid var(--rule); border-radius: 10px;
}
.facts { display: grid; gap: .9rem 1.2rem;
  grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); }
dt { color: var(--soft); font-size: .8rem; }
dd { margin: 0; font-size: 1.15rem; font-weight: 600; line-height: 1.3; }
.scroll { overflow-x: auto; margin: .6rem 0; }
.scroll:focus-visible, a:focus-visible, summary:focus-visible {
  outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .88rem;
  overflow-wrap: break-word; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { text-align: left; vertical-align: top; padding: .32rem .7rem .32rem 0;
  border-bottom: 1px solid var(--rule); }
tbody th { font-weight: 600; }
thead th { color: var(--soft); font-weight: 500; vertical-align: bottom; }
.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.prose { min-width: 13rem; }
details { margin-top: .6rem; }
summary { cursor: pointer; color: var(--accent); }
.chip { display: inline-block; padding: 0 .45em; border-radius: 5px;
  border: 1.5px solid var(--none); font-size: .82rem; white-space: nowrap; }
.chip.f16 { border-color: var(--f16); } .chip.bf16 { border-color: var(--bf16); }
.chip.f32 { border-color: var(--f32); } .chip.tf32 { border-color: var(--tf32); }
.chip.f8 { border-color: var(--f8); } .chip.f64 { border-color: var(--f64); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: .4rem 0;
  padding: 0; list-style: none; font-size: .85rem; color: var(--soft); }
.legend svg { width: .8em; height: .8em; margin-right: .4em; }
)css";

} // namespace mp
