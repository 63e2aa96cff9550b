/** G. Starts per time: counted by the instants of the claims, as the server that made them knew the time. */
import { NOBODY } from '@signalbox/engine';
import type { Checker, Scene } from './checker.ts';

interface Start {
  readonly at: number;
  readonly untilAt: number;
}

export function rates(scene: Scene): Checker {
  const { ledger } = scene;
  const starts = new Map<string, Start[]>();
  return {
    invariants: ['I44'],
    onChange(change) {
      if (change.kind !== 'AttemptClaimed' && change.kind !== 'SpeculativeClaimed') return;
      if (change.workerId === NOBODY) return;
      const { at } = change;
      for (const { key, rate } of ledger.ratesOf(ledger.run(change.runId), change.taskNo)) {
        const known = starts.get(key) ?? [];
        starts.set(key, known);
        // Each counts for as long as the rate was when it began.
        const counted = known.filter((start) => start.at <= at && start.untilAt > at).length;
        if (counted >= rate.limit) {
          const what = `task ${change.runId}/${change.taskNo} was claimed at ${at}`;
          scene.fail('I44', `${what}, ${key} has started ${counted} of ${rate.limit} in ${rate.perMs} ms`);
        }
        known.push({ at, untilAt: at + rate.perMs });
      }
    },
  };
}
