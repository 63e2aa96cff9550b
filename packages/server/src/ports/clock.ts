/** Real time and randomness. */
import { randomFillSync } from 'node:crypto';
import type { Instant, MonoMs } from '@signalbox/engine';
import type { Clock, Random } from '@signalbox/host';

/** Node fires a timer at once when it is set for longer than this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  wall: () => Date.now() as Instant,
  mono: () => performance.now() as MonoMs,
  after(delayMs, run) {
    const until = performance.now() + delayMs;
    // A timer may fire up to a millisecond before its time.
    const look = () => {
      const leftMs = until - performance.now();
      if (leftMs <= 0) run();
      else timer = setTimeout(look, Math.min(Math.ceil(leftMs), LONGEST_TIMER_MS));
    };
    let timer = setTimeout(look, Math.min(Math.max(0, Math.ceil(delayMs)), LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

const drawn = new Uint32Array(1024);
let left = 0;

export const cryptoRandom: Random = {
  uint32() {
    if (left === 0) {
      randomFillSync(drawn);
      left = drawn.length;
    }
    left -= 1;
    return drawn[left]!;
  },
};

/** For uids: so many bits, at most 52. */
export function randomBits(bits: number): number {
  const high = cryptoRandom.uint32() & (2 ** 20 - 1);
  return (high * 2 ** 32 + cryptoRandom.uint32()) % 2 ** bits;
}
