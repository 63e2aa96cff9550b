/**
 * Nodes take shards from each other while commits are in flight, stopped and cut at random places. In all cases: what was
 * confirmed is there, what was refused is not, what is unknown is settled for good by the next load, and each shard counts
 * exactly the commits that are there (I12, I14, I16, I17).
 */
import type { DagDeployed, RunCreated, RunUid, ShardNo } from '@signalbox/engine';
import { shardOfRun } from '@signalbox/engine';
import { expect } from 'vitest';
import type { Store } from '../port.ts';
import { created, deployed } from './changes.ts';
import type { Ending } from './eventually.ts';
import { seeded } from './seeded.ts';
import { type Check, HOLD_POINTS, type StoreSubject } from './subject.ts';
import { TestNode } from './test-node.ts';

const ROUNDS = 25;
const SHARDS = [5, 6, 7] as const;
const IMPATIENT_MS = 60;

type Dags = ReadonlyMap<number, DagDeployed>;
interface Sent {
  readonly runs: readonly RunCreated[];
  readonly ending: Ending;
}

export const chaosChecks: readonly Check[] = [1, 2, 3].map(chaosCheck);

function chaosCheck(seed: number): Check {
  return {
    name: `handovers with commits in flight, drawn from seed ${seed}, lose nothing and let nothing through`,
    run: async (subject) => {
      const random = seeded(seed);
      const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
      const nodes = [await TestNode.start(subject), await TestNode.start(subject), await TestNode.start(subject)];
      const reader = await subject.open();
      let owner = one(nodes);
      await owner.takeOver(SHARDS);
      const dags: Dags = new Map(SHARDS.map((shard) => [shard, deployed(shard, 1)]));
      await owner.commit([...dags.values()]);
      const truth = new Set<RunUid>();
      for (let round = 0; round < ROUNDS; round++) {
        const next = one(nodes);
        // Two nodes may end up with some shards each: both go on, and only the owner of a shard gets through.
        const drawn = SHARDS.filter(() => random() < 0.7);
        const taken = drawn.length > 0 ? drawn : SHARDS;
        const { held, sent } = await sendSome(subject, owner, dags, random);
        const order = one(['release first', 'take first', 'cut first'] as const);
        if (order === 'release first') held?.release();
        if (order === 'cut first') held?.cut();
        const heads = await next.takeOver(taken, IMPATIENT_MS);
        if (order === 'take first') held?.release();
        const endings = await sent;
        // What the new owner has loaded stays as it is until it commits itself, and its own commits go through (I14, I16).
        const { runs } = await reader.loadHeads(taken as readonly number[] as readonly ShardNo[], 10_000);
        expect(runs).toEqual(heads.runs);
        const own = taken.map((shard) => created(dags.get(shard) ?? deployed(shard, 1), next.newRunId(shard)));
        endings.push({ runs: own, ending: await next.tryCommit(own) });
        expect(endings.at(-1)?.ending).toBe('done');
        // Only now is every epoch raised over what was sent, so only now can a load tell (I16).
        await next.takeOver(SHARDS, IMPATIENT_MS);
        await settle(reader, truth, endings);
        owner = next;
      }
      expect(await liveRuns(reader)).toEqual([...truth].sort());
    },
  };
}

/** Sends up to four commits, one after the other without waiting, and stops one of them half of the time. */
async function sendSome(subject: StoreSubject, owner: TestNode, dags: Dags, random: () => number) {
  const point = HOLD_POINTS[Math.floor(random() * HOLD_POINTS.length * 2)];
  const held = point === undefined ? null : await subject.hold(owner.store, point);
  const commits = Array.from({ length: 1 + Math.floor(random() * 4) }, async (): Promise<Sent> => {
    const shards = SHARDS.filter(() => random() < 0.5);
    const touched = shards.length > 0 ? shards : [SHARDS[0]];
    const runs = touched.map((shard) => created(dags.get(shard) ?? deployed(shard, 1), owner.newRunId(shard)));
    return { runs, ending: await owner.tryCommit(runs) };
  });
  await held?.reached();
  return { held, sent: Promise.all(commits) };
}

/** What a load shows now is the truth about everything sent so far. By uid: the number of a run that failed is given again. */
async function settle(reader: Store, truth: Set<RunUid>, sent: readonly Sent[]): Promise<void> {
  const there = new Set(await liveRuns(reader));
  for (const uid of truth) expect(there).toContain(uid);
  for (const { runs, ending } of sent) {
    const found = runs.filter(({ uid }) => there.has(uid)).length;
    expect([0, runs.length]).toContain(found);
    if (ending === 'done') expect(found).toBe(runs.length);
    if (ending === 'fenced' || ending === 'refused') expect(found).toBe(0);
    // Nothing here breaks a constraint, and rows are locked in order: a refusal would be a deadlock.
    expect(ending).not.toBe('refused');
    if (found > 0) for (const { uid } of runs) truth.add(uid);
  }
  expect(there.size).toBe(truth.size);
}

/** Each commit brings one run to each shard that it touches, so a shard's number tells how many it has. */
async function liveRuns(reader: Store): Promise<RunUid[]> {
  const { runs, shards } = await reader.loadHeads(SHARDS as readonly number[] as readonly ShardNo[], 10_000);
  for (const { shard, commitNo } of shards) {
    expect(runs.filter(({ runId }) => shardOfRun(runId) === shard)).toHaveLength(commitNo - 1);
  }
  return runs.map(({ uid }) => uid).sort();
}
