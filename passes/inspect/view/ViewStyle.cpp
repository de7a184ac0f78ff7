//===- ViewStyle.cpp - the style sheet and script of pictures -------------===//
#include "passes/inspect/view/ViewPage.h"

namespace mp::view {

const llvm::StringLiteral kViewStyle = R"css(
body { max-width: none; }
.facts-table { width: auto; min-width: 22rem; }
.facts-table td, .facts-table th { padding: .12rem 1.4rem .12rem 0; }
.zooms { margin-bottom: .8rem; }
.swatch { width: 1.5em; height: .8em; margin-right: .5em; }
.panels { display: grid; gap: 1rem; align-items: start;
  grid-template-columns: minmax(0, 1fr); }
.panel { margin: 0; overflow: auto; max-height: 92vh; }
@media (min-width: 50rem) {
  .pair { grid-template-columns: fit-content(50%) minmax(0, 1fr); }
}
.panel h2 { position: sticky; left: 0; }
.graph { display: block; margin: 0 0 .8rem; max-width: none; }
.graph text { font-family: ui-monospace, "DejaVu Sans Mono", Consolas, monospace;
  fill: var(--text); pointer-events: none; }
.graph .name { font-size: 12px; font-weight: 600; text-anchor: middle; }
.graph .type { font-size: 10.5px; text-anchor: middle; }
.graph .head { font-size: 11.5px; font-weight: 600; fill: var(--soft); }
.graph .mark { font-size: 9px; font-weight: 600; fill: var(--accent);
  text-anchor: end; }
.cluster { fill: none; stroke: var(--rule); }
.cluster.phase { fill: var(--page); stroke: var(--soft);
  stroke-dasharray: 2 3; }
.cluster.kernel { fill: var(--grid); fill-opacity: .55; stroke: var(--soft); }
.cluster.region { fill: none; stroke: var(--accent); }
.f64 { --tone: var(--f64); } .f32 { --tone: var(--f32); }
.f16 { --tone: var(--f16); } .bf16 { --tone: var(--bf16); }
.f8 { --tone: var(--f8); } .int { --tone: var(--int); }
.i1 { --tone: var(--i1); } .none { --tone: var(--none); }
.swatch rect, .shape { fill: var(--tone); fill-opacity: .2; stroke: var(--tone);
  stroke-width: 1.5; }
.op .shape { fill-opacity: .28; }
.f32 > .shape { fill-opacity: .1; }
.constant .shape { stroke-dasharray: 1 2; }
.reference .shape { fill: none; stroke-dasharray: 4 3; }
.inner { fill: none; stroke: var(--tone); }
.reference .name { font-weight: 400; }
.half { fill: var(--tone); stroke: none; fill-opacity: .75; }
.cast .type { font-weight: 700; fill: var(--text); }
.new .shape, .changed .shape { stroke-width: 3; }
.gone .shape { stroke-dasharray: 5 4; }
.gone { opacity: .6; }
.edge { fill: none; stroke: var(--tone); stroke-width: 1.3;
  stroke-opacity: .75; }
.edge.condition { stroke-dasharray: 3 3; }
.tip { fill: var(--tone); stroke: none; }
.hot .shape, .hot .half { stroke: var(--accent); stroke-width: 3; }
path.hot { stroke: var(--accent); stroke-width: 2.6; stroke-opacity: 1; }
.zoom { font: inherit; padding: .1rem .6rem; margin-right: .3rem;
  color: var(--accent); background: var(--card);
  border: 1px solid var(--rule); border-radius: 6px; cursor: pointer; }
@media print { .panel { max-height: none; overflow: visible; } }
)css";

// The pointer over a node marks the node, its edges, and the same node
// elsewhere. A click shows the same node in the other picture.
const llvm::StringLiteral kViewScript = R"js(
const all = selector => [...document.querySelectorAll(selector)];
const nodes = new Map();
for (const node of all('.node'))
  nodes.set(node.dataset.key, [...(nodes.get(node.dataset.key) ?? []), node]);
const nodeAt = event => event.target.closest('.node');
document.addEventListener('mouseover', event => {
  for (const marked of all('.hot')) marked.classList.remove('hot');
  const node = nodeAt(event);
  if (!node) return;
  for (const same of nodes.get(node.dataset.key)) same.classList.add('hot');
  for (const edge of all(`path[data-ends~="${node.id}"]`)) edge.classList.add('hot');
});
document.addEventListener('click', event => {
  const node = nodeAt(event);
  const same = node && nodes.get(node.dataset.key);
  if (!same || same.length < 2) return;
  const next = same[(same.indexOf(node) + 1) % same.length];
  next.scrollIntoView({block: 'center', inline: 'center', behavior: 'smooth'});
});
let scale = 1;
const zoom = factor => {
  scale = factor === 0 ? 1 : scale * factor;
  for (const graph of all('.graph')) {
    graph.style.width = graph.getAttribute('width') * scale + 'px';
    graph.style.height = graph.getAttribute('height') * scale + 'px';
  }
};
const zooms = document.createElement('p');
zooms.className = 'zooms';
document.querySelector('header').append(zooms);
for (const [label, factor] of [['−', 0.8], ['+', 1.25], ['1:1', 0]]) {
  const button = document.createElement('button');
  button.className = 'zoom';
  button.textContent = label;
  button.title = 'size of the pictures';
  button.addEventListener('click', () => zoom(factor));
  zooms.append(button);
}
)js";

} // namespace mp::view
