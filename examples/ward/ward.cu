// SPDX-License-Identifier: Apache-2.0
// A QRS detector after J. Pan, W. J. Tompkins, "A Real-Time QRS Detection Algorithm", IEEE Trans. Biomed. Eng. 32(3),
// 230-236, 1985: its filters, made for 200 Hz, have the same lengths at 360 Hz here. This is no medical device.
//
// The same bits come out everywhere: the filters are exact in integers, and the levels are multiplied by powers of two
// alone, which rounds nothing, so that a compiler may contract a product and a sum into one operation or not.
#include <slipring/device.h>

#include "ward.h"

enum {
    // The filters, in samples; in milliseconds they are as long as the paper's.
    LOW_PASS = 11,   // 30 ms: 6 samples at 200 Hz
    HIGH_PASS = 57,  // 160 ms: 32 samples at 200 Hz
    STEP = 2,        // between the taps of the derivative: 5.6 ms, one sample at 200 Hz
    INTEGRATED = 54, // 150 ms: 30 samples at 200 Hz

    BAND_DELAY = (LOW_PASS - 1) + (HIGH_PASS - 1) / 2,            // from a sample to its peak in the band
    SLOPE_DELAY = 2 * STEP,                                       // from there to its slope
    HALF_QRS = 25,                                                // 70 ms
    PEAK_ENDS = 72,                                               // 200 ms without a higher value end a peak
    DECISION = BAND_DELAY + SLOPE_DELAY + INTEGRATED + PEAK_ENDS, // 470 ms: no peak is decided on later

    REFRACTORY = 72, // 200 ms: no heart beats twice in it
    T_WAVE = 130,    // 360 ms: what follows so soon may be the T wave
    LEARNING = 720,  // 2 s
    INTERVALS = 8,

    HISTORY = 256, // samples kept: more than DECISION and two HALF_QRS; powers of two, so that an index is a mask
    SHORT_HISTORY = 64,
    MOST_AT_ONCE = 16 // beats: over LEARNING / REFRACTORY
};

// A hump of the integrated signal, which may be a QRS complex.
struct peak {
    unsigned at;      // its R peak
    float integrated; // its height, in the integrated signal and in the band
    float filtered;
    int slope; // its steepest
};

// Running estimates of the heights of QRS complexes and of noise: SPK and NPK in the paper.
struct level {
    float signal;
    float noise;
};

struct rhythm {
    unsigned recent[INTERVALS];  // the last intervals: RR AVERAGE1 is their mean
    unsigned regular[INTERVALS]; // the last that were near the mean: RR AVERAGE2 is theirs
    unsigned recent_count, regular_count;
    unsigned streak_in, streak_out; // of the last intervals, how many in a row were near the mean, or were not
    unsigned mean;                  // RR AVERAGE2; 0: not known yet
};

struct patient {
    unsigned now; // samples seen
    int origin;   // the first of them: no filter has to swallow the electrode's offset
    int raw[HISTORY], band[HISTORY];
    int low[SHORT_HISTORY], energy[SHORT_HISTORY];
    int low_sum, energy_sum;
    int before, top; // the integrated signal one sample ago, and its highest since the last peak
    unsigned top_at;
    unsigned learning;                   // samples of the learning phase that are over
    struct peak candidate[MOST_AT_ONCE]; // while learning
    unsigned candidates;
    struct level integrated, filtered;
    struct peak missed; // the highest since the last beat that was not taken for one
    struct peak last;   // the last beat
    unsigned beats;
    struct rhythm rhythm;
    struct beat found[MOST_AT_ONCE]; // not yet replied
    unsigned found_count, replied_count;
};

__device__ int absolute(int value)
{
    return value < 0 ? -value : value;
}

__device__ float lower(float a, float b)
{
    return a < b ? a : b;
}

// "Derivative", over five points that end at sample n of the band. At most 6,000: then a window of squares fits an int.
__device__ int slope_at(const struct patient *self, unsigned n)
{
    int outer = self->band[n % HISTORY] - self->band[(n - 4 * STEP) % HISTORY];
    int inner = self->band[(n - STEP) % HISTORY] - self->band[(n - 3 * STEP) % HISTORY];
    int slope = absolute(outer + 2 * inner) / 8;
    return slope < 6000 ? slope : 6000;
}

// One sample through "Low-Pass Filter", "High-Pass Filter", "Derivative", "Squaring Function" and "Moving-Window
// Integration". The high-pass filter is all that passes, delayed, less its mean over the filter's length.
__device__ int integrate(struct patient *self, int x)
{
    unsigned n = self->now;
    self->raw[n % HISTORY] = x;
    int low = 2 * self->low[(n - 1) % SHORT_HISTORY] - self->low[(n - 2) % SHORT_HISTORY] + x -
              2 * self->raw[(n - LOW_PASS) % HISTORY] + self->raw[(n - 2 * LOW_PASS) % HISTORY];
    self->low_sum += low - self->low[(n - HIGH_PASS) % SHORT_HISTORY];
    self->low[n % SHORT_HISTORY] = low;
    int high = HIGH_PASS * self->low[(n - (HIGH_PASS - 1) / 2) % SHORT_HISTORY] - self->low_sum;
    self->band[n % HISTORY] = high / (LOW_PASS * LOW_PASS * HIGH_PASS / 4); // quarters of an ADC count

    int slope = slope_at(self, n);
    int energy = slope * slope;
    self->energy_sum += energy - self->energy[(n - INTEGRATED) % SHORT_HISTORY];
    self->energy[n % SHORT_HISTORY] = energy;
    return self->energy_sum;
}

// The R peak in the recording itself: of the samples near `about`, the one farthest from the line between its
// neighbours 70 ms before and after, up or down.
__device__ unsigned r_peak(const struct patient *self, unsigned about)
{
    unsigned best = about;
    int most = -1;
    for (unsigned n = about > HALF_QRS ? about - HALF_QRS : 0; n <= about + HALF_QRS; n++) {
        int sides = self->raw[(n - HALF_QRS) % HISTORY] + self->raw[(n + HALF_QRS) % HISTORY];
        int out = absolute(2 * self->raw[n % HISTORY] - sides);
        if (out > most) {
            most = out;
            best = n;
        }
    }
    return best;
}

// Describes the peak whose integration window ended at top_at, by looking at that window again in the band.
__device__ void describe(const struct patient *self, struct peak *peak)
{
    unsigned end = self->top_at - SLOPE_DELAY + 1;
    unsigned highest_at = end;
    int highest = -1;
    int steepest = 0;
    for (unsigned n = end - INTEGRATED; n != end; n++) {
        int height = absolute(self->band[n % HISTORY]);
        int slope = slope_at(self, n + SLOPE_DELAY);
        if (height > highest) {
            highest = height;
            highest_at = n;
        }
        steepest = slope > steepest ? slope : steepest;
    }
    peak->at = r_peak(self, highest_at > BAND_DELAY ? highest_at - BAND_DELAY : 0);
    peak->integrated = (float)self->top;
    peak->filtered = (float)highest;
    peak->slope = steepest;
}

__device__ unsigned mean(const unsigned *intervals, unsigned count)
{
    unsigned sum = 0;
    if (count > INTERVALS)
        count = INTERVALS;
    for (unsigned i = 0; i < count; i++)
        sum += intervals[i];
    return sum / count;
}

// "Adjusting the Average RR Interval and Rate Limits": between 92 and 116 % of the mean an interval is regular, and the
// mean is that of the last eight regular ones. Beyond the paper: eight irregular ones in a row are the new rhythm, or
// the mean would stay behind for ever when the heart rate leaps.
__device__ void learn_interval(struct rhythm *rhythm, unsigned interval)
{
    int regular = rhythm->mean == 0 || (100 * interval >= 92 * rhythm->mean && 100 * interval <= 116 * rhythm->mean);
    rhythm->recent[rhythm->recent_count++ % INTERVALS] = interval;
    rhythm->streak_in = regular ? rhythm->streak_in + 1 : 0;
    rhythm->streak_out = regular ? 0 : rhythm->streak_out + 1;
    if (regular) {
        rhythm->regular[rhythm->regular_count++ % INTERVALS] = interval;
        rhythm->mean = mean(rhythm->regular, rhythm->regular_count);
    } else if (rhythm->streak_out >= INTERVALS) {
        rhythm->mean = mean(rhythm->recent, rhythm->recent_count);
        rhythm->regular_count = 0;
    }
}

// RR MISSED LIMIT: 166 % of the mean.
__device__ int too_long(const struct rhythm *rhythm, unsigned interval)
{
    return rhythm->mean != 0 && interval > rhythm->mean * 166 / 100;
}

// THRESHOLD I1 or F1 = NPK + 0.25 (SPK - NPK), halved while the rhythm is irregular.
__device__ float threshold(const struct level *level, const struct rhythm *rhythm)
{
    float between = level->noise + (level->signal - level->noise) * 0.25f;
    return rhythm->streak_in >= INTERVALS ? between : between * 0.5f;
}

__device__ int exceeds(const struct patient *self, const struct peak *peak, float part)
{
    return peak->integrated > threshold(&self->integrated, &self->rhythm) * part &&
           peak->filtered > threshold(&self->filtered, &self->rhythm) * part;
}

__device__ void approach(float *level, float height, float part)
{
    *level += (height - *level) * part;
}

// A beat: SPK = part PEAK + (1 - part) SPK. Beyond the paper: a peak counts as twice the usual amplitude at most (four
// times the energy), or one pop of an electrode would hide every beat after it.
__device__ void take_beat(struct patient *self, const struct peak *peak, float part)
{
    unsigned interval = self->beats > 0 ? peak->at - self->last.at : 0;
    struct beat *beat = &self->found[self->found_count++ % MOST_AT_ONCE];
    beat->at = peak->at;
    beat->rr_s = (float)interval / (float)WARD_RATE_HZ;
    beat->alarm = too_long(&self->rhythm, interval);
    if (self->beats++ > 0)
        learn_interval(&self->rhythm, interval);
    approach(&self->integrated.signal, lower(peak->integrated, self->integrated.signal * 4.0f), part);
    approach(&self->filtered.signal, lower(peak->filtered, self->filtered.signal * 2.0f), part);
    self->last = *peak;
    self->missed.integrated = 0.0f;
}

__device__ void take_noise(struct patient *self, const struct peak *peak)
{
    approach(&self->integrated.noise, peak->integrated, 0.125f);
    approach(&self->filtered.noise, peak->filtered, 0.125f);
}

// "T-Wave Identification": it follows its QRS complex within 360 ms and is less than half as steep.
__device__ int is_t_wave(const struct patient *self, const struct peak *peak)
{
    return self->beats > 0 && peak->at < self->last.at + T_WAVE && 2 * peak->slope < self->last.slope;
}

__device__ void classify(struct patient *self, const struct peak *peak)
{
    if (self->beats > 0 && peak->at < self->last.at + REFRACTORY)
        return;
    if (is_t_wave(self, peak)) {
        take_noise(self, peak);
    } else if (exceeds(self, peak, 1.0f)) {
        take_beat(self, peak, 0.125f);
    } else {
        take_noise(self, peak);
        if (peak->integrated > self->missed.integrated)
            self->missed = *peak;
    }
}

// The search-back: after too long without a beat, the highest peak since the last one counts if it exceeds THRESHOLDS
// I2 and F2, half the others. The gap is measured up to the last sample about which all is decided.
__device__ void search_back(struct patient *self)
{
    unsigned since = self->now - self->last.at;
    if (self->beats == 0 || self->missed.integrated == 0.0f || since < DECISION)
        return;
    if (too_long(&self->rhythm, since - DECISION) && exceeds(self, &self->missed, 0.5f)) {
        struct peak peak = self->missed;
        take_beat(self, &peak, 0.25f);
    }
}

// Of candidates closer than the refractory period, the higher stays.
__device__ void remember(struct patient *self, const struct peak *peak)
{
    if (self->candidates > 0 && peak->at < self->candidate[self->candidates - 1].at + REFRACTORY) {
        if (peak->integrated > self->candidate[self->candidates - 1].integrated)
            self->candidate[self->candidates - 1] = *peak;
    } else if (self->candidates < MOST_AT_ONCE) {
        self->candidate[self->candidates++] = *peak;
    }
}

__device__ void set_level(struct level *level, float highest, float limit)
{
    level->signal = lower(highest, limit) * 0.5f;
    level->noise = level->signal * 0.125f;
}

// Learning phase 1: the highest candidate of 2 s sets the levels, unless it towers over the next like an artefact. Then
// the candidates are classified, so that no beat is lost to learning.
__device__ void learn(struct patient *self)
{
    struct peak highest = self->candidate[0];
    struct peak next = self->candidate[self->candidates > 1 ? 1 : 0];
    for (unsigned i = 1; i < self->candidates; i++) {
        if (self->candidate[i].integrated > highest.integrated) {
            next = highest;
            highest = self->candidate[i];
        } else if (self->candidate[i].integrated > next.integrated) {
            next = self->candidate[i];
        }
    }
    set_level(&self->integrated, highest.integrated, next.integrated * 4.0f);
    set_level(&self->filtered, highest.filtered, next.filtered * 2.0f);
    for (unsigned i = 0; i < self->candidates; i++)
        classify(self, &self->candidate[i]);
}

// Follows the integrated signal: a peak is over when it has halved, or after 200 ms; the next begins with a rise.
__device__ void take_sample(struct patient *self, int x)
{
    int integrated = integrate(self, x);
    if (integrated > self->before && integrated > self->top) {
        self->top = integrated;
        self->top_at = self->now;
    } else if (self->top > 0 && (integrated < self->top / 2 || self->now - self->top_at >= PEAK_ENDS)) {
        struct peak peak;
        describe(self, &peak);
        self->top = 0;
        if (self->learning < LEARNING)
            remember(self, &peak);
        else
            classify(self, &peak);
    }
    self->before = integrated;
    // A flat line teaches nothing: learning waits until the signal moves.
    if (integrated > 0 && self->learning < LEARNING && ++self->learning == LEARNING)
        learn(self);
    search_back(self);
    self->now++;
}

__ring__ void detect(struct patient *self, const struct samples *in)
{
    if (self->now == 0)
        self->origin = in->adc[0];
    for (int i = 0; i < WARD_SAMPLES; i++)
        take_sample(self, in->adc[i] - self->origin);
    if (self->replied_count != self->found_count) {
        struct beat beat = self->found[self->replied_count++ % MOST_AT_ONCE];
        ring_reply(&beat);
    }
}
