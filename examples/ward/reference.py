#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes reference-beats.csv: the beats on which at least two of three published QRS detectors agree.

    python3 -m venv venv
    venv/bin/pip install wfdb==4.3.1 neurokit2==0.2.13 py-ecg-detectors==1.3.5 "setuptools<81"
    venv/bin/python reference.py

One detector a package, none of them Pan and Tompkins', which is the one under test:
  wfdb              gqrs: the detector of the WFDB Software Package (PhysioNet)
  neurokit2         neurokit: steepness of the absolute gradient (validated in J. Open Source Software 5(55), 2621, 2020)
  py-ecg-detectors  two moving averages: Elgendi, Jonkman, De Boer, "Frequency Bands Effects on QRS Detection", 2010

The three mark different points of a QRS complex (its onset, its peak, the end of a window), so each mark is first moved to the
extremum that it belongs to: the sample farthest from the baseline (the running median of 0.6 s) within SNAP_S. Marks of
different detectors within AGREE_S of the earliest one of their group then name one beat; it counts with at least two detectors,
and lies at the extremum next to the median of its marks.
"""
import pathlib

import neurokit2 as nk
import numpy as np
from ecgdetectors import Detectors
from scipy.ndimage import median_filter
from wfdb.processing import gqrs_detect

HERE = pathlib.Path(__file__).resolve().parent
RATE_HZ = 360
BASELINE_S = 0.6
SNAP_S = 0.120
AGREE_S = 0.075


def marks(mv):
    clean = nk.ecg_clean(mv, sampling_rate=RATE_HZ, method="neurokit")
    return {
        "gqrs": gqrs_detect(sig=mv, fs=RATE_HZ),
        "neurokit": nk.ecg_peaks(clean, sampling_rate=RATE_HZ, method="neurokit")[1]["ECG_R_Peaks"],
        "two_average": Detectors(RATE_HZ).two_average_detector(mv),
    }


def snap(height, at):
    """The sample within SNAP_S of a mark that is farthest from the baseline."""
    reach = round(SNAP_S * RATE_HZ)
    start = max(int(at) - reach, 0)
    return start + int(np.argmax(height[start : int(at) + reach + 1]))


def agreed(snapped):
    """The groups of marks, each a list of positions, that at least two detectors share."""
    every = sorted((at, name) for name, ats in snapped.items() for at in ats)
    groups = []
    for at, name in every:
        if groups and at - groups[-1][0][0] <= AGREE_S * RATE_HZ:
            groups[-1].append((at, name))
        else:
            groups.append([(at, name)])
    return [[at for at, _ in group] for group in groups if len({name for _, name in group}) >= 2]


def main():
    adc = np.loadtxt(HERE / "mitdb-208-excerpt.csv", skiprows=1)
    mv = (adc - 1024) / 200
    height = np.abs(mv - median_filter(mv, round(BASELINE_S * RATE_HZ) | 1))
    snapped = {name: sorted({snap(height, at) for at in ats}) for name, ats in marks(mv).items()}
    beats = sorted({snap(height, np.median(group)) for group in agreed(snapped)})
    with open(HERE / "reference-beats.csv", "w") as out:
        out.write("at\n" + "".join(f"{at}\n" for at in beats))
    print({name: len(ats) for name, ats in snapped.items()}, "agreed:", len(beats))


if __name__ == "__main__":
    main()
