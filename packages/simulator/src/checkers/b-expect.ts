/** B. Expected events: what came in time is not missing, what is missing is told once, and no expectation is forgotten. */
import type { Change, EventMissed, ExpectationSet } from '@signalbox/engine';
import type { Checker, Scene } from './checker.ts';

/** Longer than a well cluster takes to look. Clocks of two owners differ by up to 60 s. */
const OVERDUE_MS = 80_000;

type Ref = Pick<EventMissed, 'dagId' | 'name'>;
const nameOf = ({ dagId, name }: Ref): string => `${dagId}/${name}`;

export function expected(scene: Scene): Checker {
  const { world, ledger } = scene;
  const known = new Map<string, ExpectationSet>();
  /** The times that were told as missing, of each that is expected. */
  const told = new Map<string, Set<number>>();

  function checkMissed(change: EventMissed): void {
    const what = `event ${nameOf(change)} by ${change.dueAt}`;
    const before = known.get(nameOf(change));
    if (before === undefined) return scene.fail('I6', `${what} is missing, and nobody expects it`);
    const times = told.get(nameOf(change)) ?? new Set();
    if (times.has(change.dueAt)) scene.fail('I11', `${what} is told as missing a second time`);
    told.set(nameOf(change), times.add(change.dueAt));
    if (change.at < change.dueAt) scene.fail('I53', `${what} is told as missing at ${change.at}, before its time`);
    if (before.lastAt !== null && before.lastAt > change.sinceAt && before.spec.by !== undefined)
      scene.fail('I10', `${what} is told as missing, and came at ${before.lastAt}`);
  }

  function checkSet(change: ExpectationSet): void {
    const before = known.get(nameOf(change));
    known.set(nameOf(change), change);
    const isNew = before === undefined || JSON.stringify(before.spec) !== JSON.stringify(change.spec);
    // One with another description begins anew, as one does that was removed.
    if (isNew) told.delete(nameOf(change));
    if (!isNew && change.sinceAt < before.sinceAt && change.spec.by !== undefined)
      scene.fail('I5', `event ${nameOf(change)} is expected for a time that was looked at`);
  }

  return {
    invariants: ['I5', 'I6', 'I10', 'I11', 'I53'],
    onChange(change: Change) {
      if (change.kind === 'EventMissed') return checkMissed(change);
      if (change.kind === 'ExpectationSet') return checkSet(change);
      if (change.kind !== 'ExpectationRemoved') return;
      known.delete(nameOf(change));
      // One that is set again later is another: it knows nothing of what was told before, also not after a clock went back.
      told.delete(nameOf(change));
    },
    atEnd() {
      if (scene.health.wellForMs() < OVERDUE_MS) return;
      for (const one of known.values()) {
        const { owner } = ledger.shard(one.shard);
        const node = world.nodes.find(({ nodeId }) => nodeId === owner);
        if (node !== undefined && one.dueAt !== null && one.dueAt < node.process.wall() - OVERDUE_MS)
          scene.fail('I53', `event ${nameOf(one)} was due at ${one.dueAt}, and nobody looks`);
      }
    },
  };
}
