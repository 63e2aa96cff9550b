import { describe, expect, test } from 'vitest';
import { undergo } from '../ordeal.ts';
import { ORDEALS } from '../scenarios.ts';

describe('real processes, real kills', () => {
  test.each(ORDEALS)(
    '$name in the middle of hundreds of tasks: every accepted run ends, nothing is done twice (I10, I17, I23, I72)',
    { timeout: 180_000 },
    async (ordeal) => {
      const { faults, dispatchMs } = await undergo(ordeal, { running: 300 });
      console.log(`${ordeal.name}: next dispatch after ${Math.round(dispatchMs)} ms`);
      expect(faults).toEqual([]);
      expect(dispatchMs).toBeLessThan(ordeal.withinMs);
    },
  );
});
