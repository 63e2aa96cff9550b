import { expect, test } from 'vitest';
import { Silence } from './silence.ts';

/** Looks every 50 ms, and answers pings until `answersUntil`; returns when the gateway is taken for hung. */
function hungAt(pingMs: number, answersUntil: number, untilMs: number): number | null {
  const silence = new Silence();
  silence.begin(pingMs);
  for (let now = 0; now <= untilMs; now += 50) {
    const found = silence.look(now);
    if (found === 'hung') return now;
    if (found === 'ping' && now <= answersUntil) silence.heard();
  }
  return null;
}

test.each([
  ['answers every ping', 1_000, 60_000, null],
  ['never answers', 1_000, -1, 3_000],
  ['stops just after an answer', 1_000, 5_000, 8_000],
  ['stops just before one', 1_000, 4_999, 7_000],
  ['knows of no pings (an older server)', 0, -1, null],
])('a gateway that %s', (_, pingMs, answersUntil, expected) => {
  expect(hungAt(pingMs, answersUntil, 60_000)).toBe(expected);
});

test('a pause of the worker itself does not count: what was said meanwhile is still to be read', () => {
  const silence = new Silence();
  silence.begin(1_000);
  silence.look(0);
  silence.look(1_000);
  expect(silence.look(60_000)).not.toBe('hung');
  silence.heard();
  expect(silence.look(60_400)).not.toBe('hung');
});
