#!/usr/bin/env python3
"""Writes sequences of tones in noise as arrays for zoo:speech-ctc, which is to tell the tones and their order.

A symbol is one of ten tones, a quarter of an octave apart, of random length, loudness and phase, with a pause after it. A frame is
the logarithm of the spectrum of 244 samples at 8 kHz, every 122 samples. OUT gets, for train and test,

  train.npy          frames, float32 [samples, 64, 123], less their mean and divided by their deviation
  train-lengths.npy  how many of them are of the sound, int32 [samples]
  train-labels.npy   the tones, from 1 on, and then 0, int32 [samples, 8]
"""

import argparse
from pathlib import Path

import numpy as np

FRAMES, LABELS, TONES = 64, 8, 10
RATE, WINDOW, HOP = 8000, 244, 122
LOWEST = 500  # hertz


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT", help="folder to write")
    parser.add_argument("--samples", type=int, default=4000, help="samples of train; a tenth as many of test (4000)")
    parser.add_argument("--noise", type=float, default=1, help="deviation of the noise; a tone is 0.5 to 1 high (1)")
    parser.add_argument("--seed", type=int, default=1, help="of all that is random (1)")
    return parser.parse_args()


def sound(tones, random):
    """The samples of these tones, each of 3 to 6 hops with a pause of 1 or 2."""
    parts = []
    for tone in tones:
        time = np.arange(random.integers(3 * HOP, 6 * HOP)) / RATE
        angle = 2 * np.pi * (LOWEST * 2 ** (tone / 4) * time + random.random())
        parts += [random.uniform(0.5, 1) * np.sin(angle), np.zeros(random.integers(HOP, 2 * HOP))]
    return np.concatenate(parts)


def spectra(samples):
    """[frames, 123]: the parts of the sound that whole windows cover."""
    windows = np.lib.stride_tricks.sliding_window_view(samples, WINDOW)[::HOP]
    return np.log(np.abs(np.fft.rfft(windows * np.hanning(WINDOW), axis=1)) + 1)


def side(count, noise, random):
    """(frames, lengths, labels)."""
    frames, labels = np.zeros((count, FRAMES, WINDOW // 2 + 1)), np.zeros((count, LABELS), np.int32)
    lengths = np.zeros(count, np.int32)
    for row in range(count):
        tones = random.integers(0, TONES, random.integers(1, LABELS + 1))
        samples = sound(tones, random)
        found = spectra(samples + random.normal(0, noise, len(samples)))
        frames[row, :len(found)], lengths[row], labels[row, :len(tones)] = found, len(found), tones + 1
    return frames, lengths, labels


def main():
    arguments = options()
    arguments.out.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(arguments.seed)
    made = {name: side(count, arguments.noise, random)
            for name, count in (("train", arguments.samples), ("test", max(1, arguments.samples // 10)))}
    frames, lengths, _ = made["train"]
    heard = frames[np.arange(FRAMES) < lengths[:, None]]
    for name, (frames, lengths, labels) in made.items():
        inside = (np.arange(FRAMES) < lengths[:, None])[..., None]
        scaled = np.where(inside, (frames - heard.mean()) / heard.std(), 0)
        np.save(arguments.out / f"{name}.npy", scaled.astype(np.float32))
        np.save(arguments.out / f"{name}-lengths.npy", lengths)
        np.save(arguments.out / f"{name}-labels.npy", labels)
        print(f"{name}: {len(frames)} sequences of {(labels > 0).sum()} tones in {lengths.sum()} frames")


if __name__ == "__main__":
    main()
