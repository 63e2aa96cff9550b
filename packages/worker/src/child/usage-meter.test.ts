import { expect, test } from 'vitest';
import { type Figures, UsageMeter } from './usage-meter.ts';

/** A process whose clock and figures are set by hand. */
function meter() {
  const at = { now: 0, asked: 0, resident: 50, figures: { cpuMicros: 0, mostBytes: 100 } as Figures };
  const ports = {
    now: () => at.now,
    figures: () => {
      at.asked++;
      return at.figures;
    },
    residentBytes: () => at.resident,
  };
  return { at, meter: new UsageMeter(ports) };
}

test('an attempt has the processor time of its own, and the peak if it made a new one', () => {
  const { at, meter: one } = meter();
  at.figures = { cpuMicros: 1_000, mostBytes: 100 };
  one.begin();
  Object.assign(at, { now: 40, figures: { cpuMicros: 31_000, mostBytes: 300 } });
  expect(one.end()).toEqual({ cpuMicros: 30_000, peakBytes: 300 });
  Object.assign(at, { now: 100 });
  one.begin();
  Object.assign(at, { now: 140, resident: 80, figures: { cpuMicros: 31_000, mostBytes: 300 } });
  expect(one.end()).toEqual({ cpuMicros: 1, peakBytes: 80 });
});

test('short attempts are not measured, and a thousand of them ask for the figures a few times', () => {
  const { at, meter: one } = meter();
  for (let no = 0; no < 1_000; no++) {
    one.begin();
    at.now += 0.005;
    expect(one.end()).toBeUndefined();
  }
  expect(at.asked).toBeLessThan(8);
});

test('this process is measured', () => {
  const own = new UsageMeter();
  own.begin();
  for (const end = performance.now() + 30; performance.now() < end; );
  expect(own.end()).toEqual({ cpuMicros: expect.toSatisfy((us: number) => us > 5_000), peakBytes: expect.any(Number) });
});
