// SPDX-License-Identifier: Apache-2.0
// The strip: the last seconds of the recording on ruled paper, and the beats that were found in them.
import { WARD_RATE_HZ } from "./beats.mjs";

const SECONDS = 8, COUNTS_A_MV = 200, ZERO = 1024; // of the recording: ../ward/README.md

// The heights that are shown: all of the samples, and some room.
function rangeOf(samples) {
    let least = ZERO - COUNTS_A_MV, most = ZERO + COUNTS_A_MV;
    for (const sample of samples) {
        least = Math.min(least, sample);
        most = Math.max(most, sample);
    }
    const room = (most - least) * 0.12;
    return [least - room, most + room];
}

function rule(context, width, height, x, y, [least, most], colour) {
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.beginPath();
    for (let second = 0; second <= SECONDS; second += 0.5) {
        context.moveTo(Math.round(x(second)) + 0.5, 0);
        context.lineTo(Math.round(x(second)) + 0.5, height);
    }
    for (let count = Math.ceil((least - ZERO) / 100) * 100 + ZERO; count < most; count += 100) {
        context.moveTo(0, Math.round(y(count)) + 0.5);
        context.lineTo(width, Math.round(y(count)) + 0.5);
    }
    context.stroke();
}

function mark(context, at, top, alarm, colour) {
    context.fillStyle = colour;
    context.beginPath();
    if (alarm)
        context.rect(at - 5, top - 5, 10, 10);
    else
        context.arc(at, top, 4.5, 0, 2 * Math.PI);
    context.fill();
}

export function drawStrip(canvas, { samples, at, beats }) {
    const scale = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    const context = canvas.getContext("2d"), colours = getComputedStyle(document.documentElement);
    const colour = (name) => colours.getPropertyValue(`--${name}`).trim();
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale))
        [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.fillStyle = colour("paper");
    context.fillRect(0, 0, width, height);

    const from = Math.max(0, at - SECONDS * WARD_RATE_HZ), seen = samples.subarray(from, at), range = rangeOf(seen);
    const x = (seconds) => (seconds / SECONDS) * width, y = (count) => height - ((count - range[0]) / (range[1] - range[0])) * height;
    rule(context, width, height, x, y, range, colour("grid"));
    context.strokeStyle = colour("trace");
    context.lineWidth = 1.4;
    context.lineJoin = "round";
    context.beginPath();
    seen.forEach((sample, i) => context.lineTo(x(i / WARD_RATE_HZ), y(sample)));
    context.stroke();
    for (const beat of beats.slice(-40))
        if (beat.at >= from && beat.at < at)
            mark(context, x((beat.at - from) / WARD_RATE_HZ), Math.max(8, y(samples[beat.at]) - 12), beat.alarm, colour(beat.alarm ? "alarm" : "beat"));
}
