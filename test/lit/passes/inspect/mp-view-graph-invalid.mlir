// RUN: not mp-opt %s --mp-view-graph=file=%t.none/graph.html 2>&1 | FileCheck %s --check-prefix=WRITE
// RUN: not mp-opt %s --mp-view-graph=file=/dev/full 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: not mp-opt %s --mp-view-graph=file=graph.svg 2>&1 | FileCheck %s --check-prefix=EXTENSION
// RUN: not mp-opt %s --mp-view-graph=format=svg 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not mp-opt %s --mp-view-graph=function=los 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not mp-opt %s --mp-view-graph="function=lost passes=canonicalize" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not mp-opt %s --mp-view-graph=passes=mp-autocats 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not mp-opt %s --mp-view-graph=passes=mp-specialize{batch=x} 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not mp-opt %s --mp-view-graph="file=%t.dot passes=mp-specialize{batch=-1}" 2>&1 | FileCheck %s --check-prefix=FAILS
// A failure leaves the file as it was.
// RUN: echo old >%t.dot
// RUN: not mp-opt %s --mp-view-graph="file=%t.dot passes=mp-specialize{batch=-1}"
// RUN: grep -x old %t.dot

// WRITE: error: mp-view-graph: cannot write {{.*}}graph.html: No such file or directory
// FULL: error: mp-view-graph: cannot write /dev/full: No space left on device
// EXTENSION: error: mp-view-graph: file is "graph.svg", expected the extension .html, .dot or .gv, or format=html or format=dot; 'dot -Tsvg' of Graphviz makes such a file of a .dot file
// FORMAT: error: mp-view-graph: format is "svg", expected "dot" or "html"
// FUNCTION: error: mp-view-graph: no function 'los', did you mean 'loss'?
// BOTH: error: mp-view-graph: no function 'lost', did you mean 'loss'?
// PASS: error: mp-view-graph: passes: 'mp-autocats' does not refer to a registered pass or pass pipeline
// OPTION-COUNT-1: 'x' value invalid
// OPTION: error: mp-view-graph: passes: 'mp-specialize{batch=x}' has an option with a value that it refuses
// FAILS: error:
func.func @loss(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
