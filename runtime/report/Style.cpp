//===- Style.cpp - the style sheet of a run's page ------------------------===//
#include "runtime/report/Page.h"

namespace mp {

const llvm::StringLiteral kReportStyle = R"css(
svg text { fill: var(--soft); font-size: 11px; }
text.head { fill: var(--text); font-size: 13px; font-weight: 600; }
rect.card { fill: var(--card); }
.chart { display: block; width: 100%; height: auto; margin: .4rem 0; }
.multiples { display: grid; gap: .4rem 1.2rem; margin-top: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
.bar { display: block; width: 9rem; height: .85rem; margin-top: .25rem; }
path { fill: none; pointer-events: none; vector-effect: non-scaling-stroke; }
td:not(.prose) > div { white-space: nowrap; }
.grid { stroke: var(--grid); } .base { stroke: var(--soft); }
.line, .raw, .band { stroke: var(--line); stroke-linejoin: round;
  stroke-linecap: round; }
.line { stroke-width: 1.8; }
.raw { stroke-width: .8; opacity: .4; }
.band { stroke-width: .6; stroke-opacity: .45; fill: var(--line);
  fill-opacity: .2; }
.skip { stroke: var(--skip); stroke-width: 1.4; pointer-events: all; }
.gap { stroke: var(--gap); stroke-width: 1.6; pointer-events: all; }
.tip { fill: transparent; } .tip:hover { fill: var(--line); fill-opacity: .1; }
.range { fill: var(--range); fill-opacity: .13; }
.range.faint { fill-opacity: .06; }
rect.zero { fill: var(--zero); } rect.flushed { fill: var(--flushed); }
rect.subnormal { fill: var(--subnormal); } rect.normal { fill: var(--normal); }
rect.near-overflow { fill: var(--near); } rect.overflow { fill: var(--overflow); }
rect.nonfinite { fill: var(--nonfinite); } rect.memory { fill: var(--memory); }
rect.f16 { fill: var(--f16); } rect.bf16 { fill: var(--bf16); }
rect.f32 { fill: var(--f32); } rect.tf32 { fill: var(--tf32); }
rect.f8 { fill: var(--f8); } rect.f64 { fill: var(--f64); }
rect.none { fill: var(--none); }
rect.life { fill: var(--line); } rect.hole { fill: var(--grid); }
td.right.many { background: color-mix(in srgb, var(--line) 30%, transparent); }
td.wrong.some { background: color-mix(in srgb, var(--skip) 18%, transparent); }
td.wrong.many { background: color-mix(in srgb, var(--skip) 40%, transparent); }
.mistakes { display: grid; gap: .8rem;
  grid-template-columns: repeat(auto-fill, minmax(7.5rem, 1fr)); }
.mistakes figure { margin: 0; }
.mistakes img { display: block; width: 5.6rem; image-rendering: pixelated; }
.mistakes small { display: block; color: var(--soft); }
@media (max-width: 40rem) {
  body { padding: .8rem .5rem 2rem; }
  section, .facts { padding: .8rem .7rem; }
  .facts { grid-template-columns: repeat(auto-fill, minmax(6.8rem, 1fr)); }
  .chart:not(.small) text { font-size: 19px; }
  .bar { width: 6rem; }
  table { min-width: 42rem; }
  .prose { min-width: 18rem; }
}
@media print { body { background: none; } section { break-inside: avoid; } }
)css";

} // namespace mp
