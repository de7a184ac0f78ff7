"""Texts that a language model writes."""

import unittest

import numpy

import mantissa
from _model import TEXT, message

CONTEXT, VOCABULARY = 12, 16
NETWORK = """
mp.variable @table : tensor<16x32xf32> = #mp.init<normal, std = 1.0>
mp.variable @places : tensor<12x32xf32> = #mp.init<normal, std = 1.0>
mp.variable @head : tensor<16x32xf32> = #mp.init<normal, std = 0.5>
func.func @loss(%x: tensor<?x12xui16> {mp.name = "x"}, %y: tensor<?x12xui16> {mp.name = "y"})
    -> (tensor<f32> {mp.name = "loss"}, tensor<?x12x16xf32> {mp.name = "logits"}) {
  %table = mp.read @table : tensor<16x32xf32>
  %places = mp.read @places : tensor<12x32xf32>
  %head = mp.read @head : tensor<16x32xf32>
  %t = mp.gather %table, %x dim(0) : tensor<16x32xf32>, tensor<?x12xui16>
  %e = mp.add %t, %places : tensor<?x12x32xf32>, tensor<12x32xf32>
  %q = mp.reshape %e : tensor<?x12x32xf32> to tensor<?x12x4x8xf32>
  %a, %l = mp.scaled_dot_product_attention %q, %q, %q causal
      : tensor<?x12x4x8xf32>, tensor<?x12x4x8xf32>, tensor<?x12x4x8xf32>
  %h = mp.reshape %a : tensor<?x12x4x8xf32> to tensor<?x12x32xf32>
  %logits = mp.linear %h, %head : tensor<?x12x32xf32>, tensor<16x32xf32>
  %loss = mp.cross_entropy %logits, %y dim(2) : tensor<?x12x16xf32>, tensor<?x12xui16>
  return %loss, %logits : tensor<f32>, tensor<?x12x16xf32>
}
mp.train @step of @loss {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1>}
}
"""
PROMPTS = [[3, 1, 4, 1, 5], [2], [7, 7]]


class Texts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.step = mantissa.compile(NETWORK, batch=1, precision="fp32", predictions=["logits"], seed=11)
        cls.step.save("texts.safetensors")

    def generator(self, texts=1):
        return mantissa.compile_generator(NETWORK, "texts.safetensors", batch=texts)

    def test_streams_what_the_network_says_of_whole_texts(self):
        generator, texts = self.generator(3), [list(prompt) for prompt in PROMPTS]
        for text, token, is_last, logits in generator.stream(PROMPTS, temperature=0, length=6):
            whole = numpy.zeros((1, CONTEXT), numpy.uint16)
            whole[0, :len(texts[text])] = texts[text]
            expected = self.step.predict({"x": whole})["logits"][0, len(texts[text]) - 1]
            self.assertEqual((logits.shape, logits.dtype), ((VOCABULARY,), numpy.float32))
            self.assertLess(abs(logits - expected).max(), 2e-5)
            self.assertEqual(token, expected.argmax())
            texts[text].append(token)
            self.assertEqual(is_last, len(texts[text]) == len(PROMPTS[text]) + 6)
        self.assertEqual([len(text) for text in texts], [11, 7, 8])

    def test_texts_together_are_those_alone(self):
        together, alone = self.generator(3).write(PROMPTS, seed=5, length=20), self.generator()
        for i, prompt in enumerate(PROMPTS):
            self.assertEqual(alone.write([prompt], seed=5 + i, length=20), [together[i]])

    def test_samples_and_ends(self):
        generator = self.generator(4)
        texts = generator.write(numpy.array([[1, 2], [3, 4]]), samples=2, length=9, end_token=5, drawn_tokens=6)
        self.assertEqual(len(texts), 4)
        for text in texts:
            self.assertTrue(len(text) == 9 or text[-1] == 5)
            self.assertTrue(max(text) < 6 and 5 not in text[:-1])

    def test_other_texts_end_a_stream(self):
        generator = self.generator()
        stream = generator.stream([[1]], length=5)
        next(stream)
        self.assertEqual(len(generator.write([[2]], length=3)[0]), 3)
        self.assertEqual(list(stream), [])

    def test_facts(self):
        generator = self.generator(2)
        self.assertEqual((generator.texts, generator.context, generator.vocabulary, generator.device), (2, 12, 16, "cpu"))
        self.assertGreater(generator.planned_bytes, 0)
        self.assertEqual(repr(generator), "<mantissa.Generator of 2 texts of 12 tokens of 16 on cpu>")

    def test_mistakes(self):
        generator = self.generator()
        for expected, prompts, options in (
                ("there is no prompt", [], {}), ("prompt 0 has no token", [[]], {}),
                ("prompts[0][1] is -1, which is no token", [[1, -1]], {}),
                ("prompt 0 has token 16 at 0, which is not in the vocabulary of 16", [[16]], {}),
                ("prompt 0 has 13 tokens, and the network looks at 12", [range(13)], {}),
                ("2 prompts with 1 samples of each are more texts than the 1", [[1], [2]], {}),
                ("end_token is -1, which is no token", [[1]], {"end_token": -1}),
                ("SamplingOptions::samples is -1", [[1]], {"samples": -1}),
                ("SamplingOptions::topP is 2, expected a number from 0 to 1", [[1]], {"top_p": 2})):
            for function in (generator.write, generator.stream):
                with self.subTest(prompts=prompts, **options):
                    self.assertIn(expected, message(function, prompts, **options))
        self.assertEqual(message(generator.write, [1, 2], kind=TypeError), "prompts is [1, 2], expected sequences of int")
        self.assertEqual(message(generator.write, [[1.5]], kind=TypeError), "prompts is [[1.5]], expected sequences of int")
        self.assertEqual(message(generator.stream, [[1]], top_k="x", kind=TypeError), "top_k is 'x', expected int")
        self.assertEqual(message(generator.stream, [[1]], topk=1, kind=TypeError), "stream() got an unexpected keyword argument 'topk'")

    def test_other_networks_and_weights(self):
        self.assertIn("none: No such file or directory", message(mantissa.compile_generator, NETWORK, "none"))
        self.assertIn("holds no averages of weights", message(mantissa.compile_generator, NETWORK, "texts.safetensors", averaged=True))
        self.assertIn("looks at later tokens", message(mantissa.compile_generator, NETWORK.replace("causal", ""), "texts.safetensors"))
        self.assertIn("has 0 arguments of [batch, tokens] integers", message(mantissa.compile_generator, TEXT, "texts.safetensors"))


if __name__ == "__main__":
    unittest.main()
