/** Whatever attempts do to the child that they share, and whoever is told to stop: each claim begins and ends at most once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FunctionWork } from '@signalbox/protocol';
import type { Assignment } from '@signalbox/protocol/grpc';
import { expect, test } from 'vitest';
import { startBody, testFolder, workOf } from '../test-rig.ts';

const bundleOf = (file: string): string => `
import { appendFileSync } from 'node:fs';
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const noted = (act) => (c) => { appendFileSync(${JSON.stringify(file)}, c.params + '/' + c.fence + '\\n'); return act(c); };
export const functions = {
  quick: noted(() => 1),
  waits: noted(() => later(5)),
  blocks: noted(() => { block(120); }),
  blocksLong: noted(() => { block(300); }),
  prints: noted(() => { console.log('x'); }),
  exits: noted(async () => { await later(1); process.exit(3); }),
  kills: noted(() => { process.kill(process.pid, 'SIGKILL'); return later(60000); }),
};
`;

/** Quick ones are the rule: only then are attempts sent ahead. */
const NAMES = [
  ...Array<string>(12).fill('quick'),
  'waits',
  'waits',
  'blocks',
  'blocksLong',
  'prints',
  'exits',
  'kills',
];

/** Park and Miller. */
function draws(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

test.each([1, 2, 3])('each claim begins at most once, and ends once (seed %i)', async (seed) => {
  const draw = draws(seed);
  const file = join(testFolder(), 'begun');
  const { session, data } = await startBody({ slots: 3, timing: { leastAhead: 30, waitMs: 400 } });
  const bundle = data.add(bundleOf(file));
  const open = new Map<number, Assignment>();
  const ends: string[] = [];
  const stopped = new Set<string>();
  let toGive = 120;
  let left = toGive;
  const give = (count: number): void => {
    const assignments: Assignment[] = [];
    for (let i = 0; i < count && toGive > 0; i++, toGive--) {
      const shape: Partial<FunctionWork> =
        [{}, {}, {}, { concurrency: 3 }, { isolation: 'process' as const }][draw(5)] ?? {};
      const handler = NAMES[draw(NAMES.length)] as string;
      const one = workOf({ kind: 'function', ...shape }, { handler, bundle, params: '0' });
      assignments.push({ ...one, params: String(one.claim.runId) });
    }
    for (const one of assignments) open.set(one.claim.runId, one);
    session.say({ assignments });
  };
  give(30);
  for (let seen = 0; left > 0; ) {
    await session.until((message) => (session.messages.indexOf(message) >= seen ? message : null));
    for (; seen < session.messages.length; seen++) {
      const { reports, refusals } = session.messages[seen] ?? { reports: [], refusals: [] };
      for (const { claim } of reports) {
        ends.push(`${claim.runId}/${claim.fence}`);
        if (open.delete(claim.runId)) left--;
      }
      session.say({ answers: reports.map(({ claim }) => ({ claim, verdict: 'accepted' as const })) });
      for (const { claim } of refusals) {
        ends.push(`${claim.runId}/${claim.fence}`);
        const one = open.get(claim.runId) as Assignment;
        const next = { ...one, claim: { ...claim, fence: claim.fence + 1 } };
        open.set(claim.runId, next);
        session.say({ assignments: [next] });
      }
      if (reports.length > 0) give(reports.length + draw(3));
      const any = [...open.values()][draw(Math.max(1, open.size))];
      if (any !== undefined && draw(8) === 0 && !stopped.has(String(any.claim.runId))) {
        stopped.add(String(any.claim.runId));
        session.say({ kills: [{ claim: any.claim, reason: 'cancelled', graceMs: draw(2) * 200 }] });
      }
    }
  }
  expect(new Set(ends).size).toBe(ends.length);
  const begun = readFileSync(file, 'utf8').trim().split('\n');
  expect(new Set(begun).size).toBe(begun.length);
  expect(begun.filter((key) => !ends.includes(key))).toEqual([]);
});
