"""Language models that write texts."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Iterator, List, NamedTuple, Optional, Sequence, TypedDict

from mantissa import _core
from mantissa._options import set_options

if TYPE_CHECKING:
    import numpy
    from typing_extensions import Unpack


class SamplingOptions(TypedDict, total=False):
    """The options of `Generator.write`, which describes them."""

    temperature: float
    top_k: int
    top_p: float
    seed: int
    samples: int
    length: int
    end_token: Optional[int]
    drawn_tokens: int


class WrittenToken(NamedTuple):
    """A token that a text was continued by.

    Attributes
    ----------
    text : int
        The number of the text: prompt ``p`` has the texts from ``p * samples`` on.
    token : int
    is_last : bool
        Whether the text has its length, or its end token.
    logits : array of float32
        What the network says of this place, a number for each token of the vocabulary; a copy.
    """

    text: int
    token: int
    is_last: bool
    logits: numpy.ndarray[Any, Any]


class Generator:
    """A language model with its weights, which continues texts token by token. `compile_generator` makes one.

    It keeps the keys and values of earlier tokens, so that a token costs the same wherever in its text it is. Texts that
    are written together may have prompts of different lengths, and are those that they are alone. Once a text is as long
    as `context`, the network forgets its older half. A network of two texts, such as T5, reads the prompt and writes the
    other text, which ends with `context`. Threads and processes share it as they share a `Step`.
    """

    def __init__(self, core: _core.Generator) -> None:
        self._core = core
        self._texts: object = None

    def write(self, prompts: Sequence[Sequence[int]], *, temperature: float = 1, top_k: int = 0, top_p: float = 1,
              seed: int = 0, samples: int = 1, length: int = 256, end_token: Optional[int] = None,
              drawn_tokens: int = 0) -> List[List[int]]:
        """Continues texts to their ends.

        Parameters
        ----------
        prompts : sequence of sequences of int
            The tokens that each text begins with: at least one, and at most `context`.
        temperature : float
            Divides the logits; 0 takes the most probable token.
        top_k : int
            Draw from the K most probable tokens; 0: all.
        top_p : float
            Draw from the most probable tokens whose probabilities add up to this.
        seed : int
            Text number ``i`` draws as one alone with this seed plus ``i``.
        samples : int
            The texts for each prompt.
        length : int
            The tokens that a text gets after its prompt, at most.
        end_token : int, optional
            Ends a text, as its last token.
        drawn_tokens : int
            Only the first so many tokens are drawn, where a vocabulary is filled up; 0: all.

        Returns
        -------
        list of list of int
            The tokens of each text after its prompt.

        Raises
        ------
        Error
            There are more texts than `texts`, a prompt is empty, longer than `context` or has a token that is not in the
            vocabulary, an option is out of its range, or logits are NaN.
        TypeError
            A prompt is no sequence of int.
        """
        written: List[List[int]] = [[] for _ in self._begin(prompts, SamplingOptions(
            temperature=temperature, top_k=top_k, top_p=top_p, seed=seed, samples=samples, length=length,
            end_token=end_token, drawn_tokens=drawn_tokens)) for _ in range(samples)]
        while tokens := self._core.next(logits=False):
            for text, token, _, _ in tokens:
                written[text].append(token)
        return written

    def stream(self, prompts: Sequence[Sequence[int]], **options: Unpack[SamplingOptions]) -> Iterator[WrittenToken]:
        """Begins texts, and returns an iterator that writes their tokens as they are asked for.

        Takes the prompts and the options of `write`, whose errors it has at once. Texts whose prompt is shorter get their
        first tokens earlier. The iterator ends with the texts, or when others are begun.
        """
        self._begin(prompts, options)
        return self._written(self._texts)

    def _begin(self, prompts: Sequence[Sequence[int]], options: SamplingOptions) -> List[List[int]]:
        try:
            tokens = [[operator.index(token) for token in prompt] for prompt in prompts]
        except TypeError:
            raise TypeError(f"prompts is {prompts!r:.80}, expected sequences of int") from None
        sampling = _core.SamplingOptions()
        set_options(sampling, SamplingOptions.__annotations__, "stream", options)
        self._texts = object()
        self._core.begin(tokens, sampling)
        return tokens

    def _written(self, texts: object) -> Iterator[WrittenToken]:
        while self._texts is texts:
            tokens = self._core.next(logits=True)
            if not tokens:
                return
            yield from (WrittenToken(*token) for token in tokens)

    @property
    def texts(self) -> int:
        """The most texts that are written at once."""
        return self._core.texts

    @property
    def context(self) -> int:
        """The most tokens that the network looks at; 2**31 - 1 of a recurrent one."""
        return self._core.context

    @property
    def vocabulary(self) -> int:
        """The number of tokens."""
        return self._core.vocabulary

    @property
    def device(self) -> str:
        """Where the network runs: ``"cpu"``, ``"cuda:0"``."""
        return self._core.device

    @property
    def planned_bytes(self) -> int:
        """The bytes of the state and of all temporary values together."""
        return self._core.planned_bytes

    def __repr__(self) -> str:
        return f"<mantissa.Generator of {self.texts} texts of {self.context} tokens of {self.vocabulary} on {self.device}>"
