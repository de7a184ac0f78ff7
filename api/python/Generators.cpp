//===- Generators.cpp - Generator for Python ------------------------------===//
#include "api/python/Arrays.h"
#include "api/python/Bindings.h"
#include "api/python/Owned.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace llvm;

namespace mantissa::python {

using OwnedGenerator = Owned<Generator>;

nb::object makeGenerator(Generator generator, std::shared_ptr<Notes> notes) {
  return nb::cast(new OwnedGenerator(std::move(generator), std::move(notes)),
                  nb::rv_policy::take_ownership);
}

/// A number of Python as a token; `what` names it.
static Token toToken(int64_t number, const Twine &what) {
  if (number < 0 || number > UINT32_MAX)
    throw Error(
        mp::makeError("{0} is {1}, which is no token", what.str(), number));
  return static_cast<Token>(number);
}

static void begin(OwnedGenerator &owned,
                  const std::vector<std::vector<int64_t>> &numbers,
                  const SamplingOptions &options) {
  std::vector<Tokens> prompts;
  for (auto [i, prompt] : enumerate(numbers)) {
    Tokens &tokens = prompts.emplace_back();
    for (auto [place, number] : enumerate(prompt))
      tokens.push_back(
          toToken(number, "prompts[" + Twine(i) + "][" + Twine(place) + "]"));
  }
  owned.use([&](Generator &model) { return model.begin(prompts, options); });
}

/// Logits are copied only if they are asked for.
static nb::list next(OwnedGenerator &owned, bool logits) {
  return owned.use(
      [](Generator &model) { return model.next(); },
      [&](ArrayRef<WrittenToken> tokens) {
        nb::list list;
        for (const WrittenToken &token : tokens) {
          TensorRef view(token.logits.data(), {int64_t(token.logits.size())});
          list.append(
              nb::make_tuple(token.text, token.token, token.isLast,
                             logits ? toArray(view) : nb::object(nb::none())));
        }
        return list;
      });
}

void bindGenerators(nb::module_ &core) {
  using O = SamplingOptions;
  nb::class_<O>(core, "SamplingOptions")
      .def(nb::init<>())
      .def_rw("temperature", &O::temperature)
      .def_rw("top_k", &O::topK)
      .def_rw("top_p", &O::topP)
      .def_rw("seed", &O::seed)
      .def_rw("samples", &O::samples)
      .def_rw("length", &O::length)
      .def_prop_rw(
          "end_token", [](O &o) { return o.endToken; },
          [](O &o, std::optional<int64_t> number) {
            o.endToken.reset();
            if (number)
              o.endToken = toToken(*number, "end_token");
          },
          nb::for_setter(nb::arg("value").none()))
      .def_rw("drawn_tokens", &O::drawnTokens);
  nb::class_<OwnedGenerator>(core, "Generator")
      .def("begin", begin, nb::arg("prompts"), nb::arg("options"))
      .def("next", next, nb::arg("logits"),
           nb::sig("def next(self, logits: bool) -> "
                   "list[tuple[int, int, bool, typing.Any]]"))
      .def_prop_ro("texts", [](OwnedGenerator &o) { return o.facts().texts(); })
      .def_prop_ro("context",
                   [](OwnedGenerator &o) { return o.facts().context(); })
      .def_prop_ro("vocabulary",
                   [](OwnedGenerator &o) { return o.facts().vocabulary(); })
      .def_prop_ro("device",
                   [](OwnedGenerator &o) { return o.facts().device(); })
      .def_prop_ro("planned_bytes",
                   [](OwnedGenerator &o) { return o.facts().plannedBytes(); });
}

} // namespace mantissa::python
