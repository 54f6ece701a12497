// SPDX-License-Identifier: Apache-2.0
// The recording and the beats, as text: what `slipring run` reads and writes.

export const WARD_RATE_HZ = 360, WARD_SAMPLES = 36; // as ../ward/ward.h has them

/** The samples of a CSV file with one column below its name. */
export function samplesOf(csv) {
    const lines = csv.split("\n").slice(1);
    return Int16Array.from(lines.filter((line) => line !== ""), Number);
}

// The shortest number that reads back as the same float.
function shortest(value) {
    for (let digits = 1; digits < 9; digits++) {
        const text = String(Number(value.toPrecision(digits)));
        if (Math.fround(Number(text)) === value)
            return text;
    }
    return String(Number(value.toPrecision(9)));
}

/** Beats, as struct beat of ../ward/ward.h has them. */
export function csvOf(beats) {
    return ["at,rr_s,alarm", ...beats.map((beat) => `${beat.at},${shortest(beat.rr_s)},${beat.alarm}`)].join("\n") + "\n";
}
