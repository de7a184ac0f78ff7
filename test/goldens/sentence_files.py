"""Small tokenizers that are built as those of T5, XLM-R, Llama and others, for tokenizer_files.py."""

import io
import json
import tempfile
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

# What the files of these networks have, from Hugging Face's.
LLAMA_3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN_2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CL100K = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
#: Texts of a few characters and what SentencePiece makes of them: other spaces, ligatures, wide letters, nothing.
RULES = {"\u00a0": " ", "\u3000": " ", "\u2003": " ", "\t": " ", "\n": " ", "\u200b": "", "\x07": "", "ﬁ": "fi", "½": "1/2", "①": "1",
         "Ａ": "A", "e\u0301": "é", "a\u0308": "ä", "…": "...", "ｶ\uff9e": "ガ", "㍿": "株式会社", "²": "2", "Ⅷ": "VIII"}


def codes(text):
    return " ".join(f"{ord(character):X}" for character in text)


def model_with_rules(text, **options):
    """A model of SentencePiece's own, with a table that it compiles of the rules."""
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.tsv"
        rules.write_text("".join(f"{codes(what)}\t{codes(by)}\n" for what, by in RULES.items()))
        made = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(text.splitlines()), model_writer=made,
                                                 normalization_rule_tsv=str(rules), minloglevel=2, **options)
    model = sentencepiece_model_pb2.ModelProto.FromString(made.getvalue())
    model.normalizer_spec.ClearField("normalization_rule_tsv")
    return model


def charsmap(text):
    return model_with_rules(text, vocab_size=150).normalizer_spec.precompiled_charsmap


def unigram(text, normalizer, splitter, decoder, specials=("<pad>", "</s>", "<unk>"), size=220, **fields):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder = normalizer, splitter, decoder
    tokenizer.train_from_iterator(text.splitlines(), trainers.UnigramTrainer(vocab_size=size, special_tokens=list(specials), unk_token="<unk>",
                                                                              shrinking_factor=0.5, show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", tokenizer.token_to_id("</s>"))])
    file = json.loads(tokenizer.to_str())
    # Bytes are no added tokens. Fewer digits, so that it is the scores that are compared, and not how they are read.
    file["model"]["vocab"] = [[piece, round(score, 6)] for piece, score in file["model"]["vocab"]]
    file["model"].update(fields)
    file["added_tokens"] = file["added_tokens"][:3]
    return Tokenizer.from_str(json.dumps(file))


def llama(text, normalizer, splitter, unknown_letters=""):
    """BPE of characters, with bytes for those that are not known."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Replace(" ", "▁"), pre_tokenizers.Split(Regex("▁?[^▁]+"), "isolated")
    tokenizer.train_from_iterator((line for line in text.splitlines() if not set(line) & set(unknown_letters)),
                                  trainers.BpeTrainer(vocab_size=460, special_tokens=["<unk>", "<s>", "</s>", *BYTES], show_progress=False))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, splitter
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))])
    file = json.loads(tokenizer.to_str())
    file["added_tokens"] = file["added_tokens"][:3]
    return Tokenizer.from_str(json.dumps(file))


def bytes_after(text, pattern, normalizer=None, size=330):
    """BPE of bytes within what a regular expression finds."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(text.splitlines(keepends=True), trainers.BpeTrainer(
        vocab_size=size, special_tokens=["<|begin_of_text|>", "<|eot_id|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    begin = tokenizer.token_to_id("<|begin_of_text|>")
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
        single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|>:1 $B:1", special_tokens=[("<|begin_of_text|>", begin)])])
    # Two letters that no merge leads to: only a whole word is this token.
    file = json.loads(tokenizer.to_str())
    file["model"]["vocab"]["xq"] = tokenizer.get_vocab_size()
    return Tokenizer.from_str(json.dumps(file))


def words(text, *splitters, normalizer=None):
    """WordPiece, whose tokens tell where words begin."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(list(splitters))
    tokenizer.decoder = decoders.WordPiece(cleanup=False)
    tokenizer.train_from_iterator(text.splitlines()[:3], trainers.WordPieceTrainer(vocab_size=130, special_tokens=["[UNK]"], show_progress=False))
    return tokenizer


def sentence_tokenizers(text):
    table = charsmap(text)
    spaces, space = normalizers.Replace(Regex(" {2,}"), " "), normalizers.Replace(Regex(" {2,}"), "▁")
    always, first = pre_tokenizers.Metaspace(), pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    of_words = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), always])
    split = pre_tokenizers.Split
    first_words = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="first")])
    t5 = unigram(text, normalizers.Sequence([normalizers.Precompiled(table), spaces]), of_words, decoders.Metaspace())
    t5.add_special_tokens([AddedToken("<extra_id_0>", lstrip=True), "<extra_id_1>"])
    return {
        "t5": t5,
        "xlm-r": unigram(text, normalizers.Sequence([normalizers.Precompiled(table), normalizers.Strip(False, True), space]), always, decoders.Metaspace()),
        "unigram-bytes": unigram(text.split("Naïve")[0], normalizers.NFKC(), first_words, decoders.Sequence(
            [decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first")]), ("<pad>", "</s>", "<unk>", *BYTES), 360, byte_fallback=True),
        "unigram-never": unigram(text, normalizers.Sequence([normalizers.Nmt(), normalizers.Strip(True, False)]), pre_tokenizers.Metaspace("_", "never"),
                                 decoders.Metaspace("_", "never")),
        "llama-2": llama(text, normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]), None),
        "llama-2-first": llama(text, None, first),
        "llama-3": bytes_after(text, LLAMA_3),
        "qwen-2": bytes_after(text, QWEN_2, normalizers.NFC()),
        "cl100k": bytes_after(text, CL100K),
        "o200k": bytes_after(text, O200K),
        "digits": words(text, pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(True), pre_tokenizers.Punctuation("merged_with_previous")),
        "contiguous": words(text, split(Regex(r"[\s.]"), "contiguous"), pre_tokenizers.Digits(), pre_tokenizers.Punctuation("removed")),
        "next": words(text, split(Regex(r"\s"), "merged_with_next"), split("s", "merged_with_previous"), split(Regex(r"\w+"), "removed", invert=True)),
    }
