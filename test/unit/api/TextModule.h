//===- TextModule.h - a small language model ----------------------*- C -*-===//
//
// For tests in C99 and in C++.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_UNIT_API_TEXTMODULE_H
#define MP_TEST_UNIT_API_TEXTMODULE_H

/// Texts of at most 40 tokens of 16, one layer of attention.
#define TEXT_MODULE(CAUSAL)                                                    \
  "module @text {\n"                                                           \
  "mp.variable @table : tensor<16x32xf32> = #mp.init<normal, std = 1.0>\n"     \
  "mp.variable @places : tensor<40x32xf32> = #mp.init<normal, std = 1.0>\n"    \
  "mp.variable @qkv : tensor<96x32xf32> = #mp.init<normal, std = 0.3>\n"       \
  "mp.variable @head : tensor<16x32xf32> = #mp.init<normal, std = 0.5>\n"      \
  "func.func @loss(%x: tensor<?x40xui16> {mp.name = \"x\"},\n"                 \
  "                %y: tensor<?x40xui16> {mp.name = \"y\"})\n"                 \
  "    -> (tensor<f32> {mp.name = \"loss\"},\n"                                \
  "        tensor<?x40x16xf32> {mp.name = \"logits\"}) {\n"                    \
  "  %table = mp.read @table : tensor<16x32xf32>\n"                            \
  "  %places = mp.read @places : tensor<40x32xf32>\n"                          \
  "  %wqkv = mp.read @qkv : tensor<96x32xf32>\n"                               \
  "  %whead = mp.read @head : tensor<16x32xf32>\n"                             \
  "  %t = mp.gather %table, %x dim(0)\n"                                       \
  "      : tensor<16x32xf32>, tensor<?x40xui16>\n"                             \
  "  %e = mp.add %t, %places : tensor<?x40x32xf32>, tensor<40x32xf32>\n"       \
  "  %all = mp.linear %e, %wqkv : tensor<?x40x32xf32>, tensor<96x32xf32>\n"    \
  "  %qs = mp.slice %all offsets[0, 0, 0] sizes[-1, -1, 32]\n"                 \
  "      : tensor<?x40x96xf32>\n"                                              \
  "  %ks = mp.slice %all offsets[0, 0, 32] sizes[-1, -1, 32]\n"                \
  "      : tensor<?x40x96xf32>\n"                                              \
  "  %vs = mp.slice %all offsets[0, 0, 64] sizes[-1, -1, 32]\n"                \
  "      : tensor<?x40x96xf32>\n"                                              \
  "  %q = mp.reshape %qs : tensor<?x40x32xf32> to tensor<?x40x4x8xf32>\n"      \
  "  %k = mp.reshape %ks : tensor<?x40x32xf32> to tensor<?x40x4x8xf32>\n"      \
  "  %v = mp.reshape %vs : tensor<?x40x32xf32> to tensor<?x40x4x8xf32>\n"      \
  "  %a, %l = mp.scaled_dot_product_attention %q, %k, %v " CAUSAL "\n"         \
  "      : tensor<?x40x4x8xf32>, tensor<?x40x4x8xf32>,\n"                      \
  "        tensor<?x40x4x8xf32>\n"                                             \
  "  %h = mp.reshape %a : tensor<?x40x4x8xf32> to tensor<?x40x32xf32>\n"       \
  "  %r = mp.add %e, %h : tensor<?x40x32xf32>, tensor<?x40x32xf32>\n"          \
  "  %logits = mp.linear %r, %whead\n"                                         \
  "      : tensor<?x40x32xf32>, tensor<16x32xf32>\n"                           \
  "  %loss = mp.cross_entropy %logits, %y dim(2)\n"                            \
  "      : tensor<?x40x16xf32>, tensor<?x40xui16>\n"                           \
  "  return %loss, %logits : tensor<f32>, tensor<?x40x16xf32>\n"               \
  "}\n"                                                                        \
  "mp.train @step of @loss {\n"                                                \
  "  mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1>}\n"                  \
  "}\n"                                                                        \
  "}\n"

static const char *const kTextModule = TEXT_MODULE("causal");

#endif // MP_TEST_UNIT_API_TEXTMODULE_H
