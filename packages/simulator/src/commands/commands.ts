/** Random commands to the engine, drawn as the users and workers of the simulator draw them. */
import type { Actor, AddTasks, Command, DagId, HoldEvent, ShardNo, TaskNo, TenantId } from '@signalbox/engine';
import type { Attempt, Scenario } from '@signalbox/engine/testing';
import { tasksToAdd } from '../world/adding.ts';
import { planBackfillUse } from '../world/backfill-use.ts';
import type { Chance } from '../world/chance.ts';
import { itemsAt, planDelayedUse, planTimes } from '../world/delayed-use.ts';
import { withKeys } from '../world/keys.ts';
import { planHand } from '../world/manual.ts';
import { planScheduleUse } from '../world/schedule-use.ts';
import type { SimulatedWork } from '../world/simulated-work.ts';
import { planWindow } from '../world/window-use.ts';

export const WHO = { tenantId: 1 as TenantId, actor: 'token:sim' as Actor };

export interface OfDag {
  readonly shard: ShardNo;
  readonly tenantId: TenantId;
  readonly dagId: DagId;
  readonly actor: Actor;
}

type Draw = (box: Scenario, chance: Chance, ofDag: OfDag) => Command | null;

/** Of how many of the newest runs something is done to one. */
const RECENT = 15;

function someRun(box: Scenario, chance: Chance) {
  const recent = [...box.node.store.tables.runs.values()].slice(-RECENT);
  return recent.length === 0 ? null : chance.pick(recent);
}

const submit: Draw = (box, chance, { dagId }) => {
  const count = chance.happens(0.8) ? 1 : chance.int(2, 3);
  const drawn = Array.from({ length: count }, () => ({
    params: chance.happens(0.5) ? JSON.stringify({ n: chance.int(0, 9), items: ['a', 'b'] }) : null,
    priority: null,
  }));
  const plain = withKeys(chance.fork('run keys'), drawn);
  if (!chance.happens(0.3)) return box.submission({ dagId, items: plain });
  const { wall } = box.node;
  const items = itemsAt(plain, planTimes(chance, count, wall), wall);
  return box.submission({ dagId, items, key: { key: `key ${chance.uint32()}`, bodyHash: '' } });
};

const submitWindow: Draw = (box, chance, { dagId }) => {
  const window = planWindow(chance, box.node.store.tables, dagId, box.node.wall);
  return window === null ? null : box.submission({ dagId, window });
};

const rerun: Draw = (box, chance) => {
  const run = someRun(box, chance);
  return run === null ? null : box.submission({ dagId: run.dagId, versionNo: run.versionNo });
};

const cancel: Draw = (box, chance) => {
  const run = someRun(box, chance);
  if (run === null) return null;
  return { kind: 'CancelRun', ...WHO, runId: run.runId, ...(chance.happens(0.15) && { force: true as const }) };
};

const retry: Draw = (box, chance) => {
  const run = someRun(box, chance);
  return run && { kind: 'RetryTask', ...WHO, runId: run.runId, taskNo: chance.int(0, 4) as TaskNo };
};

const replay: Draw = (box, chance) => {
  const recent = [...box.node.store.tables.deadLetters.values()].slice(-RECENT);
  if (recent.length === 0) return null;
  const { runId, taskNo, attemptNo } = chance.pick(recent);
  return { kind: 'ReplayDeadLetter', ...WHO, deadLetter: { runId, taskNo, attemptNo } };
};

const hold: Draw = (box, chance, { shard, dagId }) => {
  const no = chance.uint32();
  const isBatch = chance.happens(0.6);
  const rule: HoldEvent['rule'] = isBatch
    ? { of: 'batch', max: chance.int(2, 5), withinMs: chance.int(500, 6_000) }
    : { of: 'debounce', waitMs: chance.int(300, 2_000), atMostMs: chance.int(2_000, 8_000) };
  const params = JSON.stringify(isBatch ? { events: [no] } : { last: no });
  const key = { key: `event ${no}`, bodyHash: '' };
  const event = { shard, dagId, trigger: rule.of, groupKey: '', uid: box.newUid(), params, rule, key };
  return { kind: 'HoldEvent', ...event, ...WHO };
};

/** What users do, and how often each. */
export const USES: readonly (readonly [weight: number, draw: Draw])[] = [
  [10, submit],
  [4, submitWindow],
  [1, rerun],
  [4, cancel],
  [5, retry],
  [1, replay],
  [2, hold],
  [10, (box, chance) => planHand(chance, box.node.store.tables, WHO)],
  [3, (box, chance, ofDag) => planDelayedUse(chance, box.node.store.tables, ofDag)],
  [5, (box, chance, ofDag) => planScheduleUse(chance, ofDag, box.node.wall)],
  [5, (box, chance, ofDag) => planBackfillUse(chance, box.node.store.tables, ofDag, box.node.wall)],
  [3, (_box, chance, ofDag) => ({ kind: 'SetSchedulePaused', ...ofDag, paused: chance.happens(0.5) })],
  [1, (_box, _chance, ofDag) => ({ kind: 'RetireDag', ...ofDag })],
];

export function drawUse(box: Scenario, chance: Chance, ofDag: OfDag): Command | null {
  let left = chance.next() * USES.reduce((sum, [weight]) => sum + weight, 0);
  const found = USES.find(([weight]) => (left -= weight) < 0) ?? USES[0]!;
  return found[1](box, chance, ofDag);
}

/** What the code of an attempt asks for before it ends. */
export function drawRequests(chance: Chance, { claim, worker }: Attempt, work: SimulatedWork | undefined): Command[] {
  const workerId = worker.id;
  const adds = work?.adds;
  const added: AddTasks[] =
    adds === undefined || !chance.happens(0.7)
      ? []
      : [0, 1].map((call) => ({ kind: 'AddTasks', claim, workerId, tasks: tasksToAdd({ claim }, adds, call) }));
  const more = { kind: 'ExtendAttempt', claim, workerId, byMs: chance.int(500, 20_000) } as const;
  return [...added.filter(({ tasks }) => tasks.length > 0), ...(chance.happens(0.1) ? [more] : [])];
}
