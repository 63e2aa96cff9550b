/**
 * What a task allocates, counted instead of timed: with the statements, rows and bytes of `packages/store/src/cost-guard.test.ts`
 * this is the guard of the hot path. A change that makes a count grow fails here, on any machine. If the growth is worth it, raise
 * the limit in the same commit and say why.
 */
import {
  type Actor,
  adoptShards,
  type ClaimRef,
  type Command,
  type DagId,
  DEFAULT_SETTINGS,
  type Instant,
  type MonoMs,
  makeRunUid,
  type NodeId,
  noTables,
  type QueueName,
  type ShardNo,
  State,
  step,
  type TenantId,
  type WorkerId,
} from '@signalbox/engine';
import { job, START } from '@signalbox/engine/testing';
import {
  type Assignment,
  encodeGatewayMessage,
  encodeWorkerMessage,
  parseGatewayMessage,
  parseWorkerMessage,
  type Report,
} from '@signalbox/protocol/grpc';
import { expect, test } from 'vitest';
import { allocatedBytes } from './allocated.ts';

/** What is counted here does not depend on time: a busy machine must not fail it. */
const COUNTING_MS = 600_000;
const TASKS = 250;
const ROUNDS = 8;
/** Code that is not optimised yet allocates more. */
const WARM_ROUNDS = 40;

/** On a busy machine the compiler is late: so many measurements are made before a figure counts as too high. */
const MOST_MEASUREMENTS = 100;

/** The least of some measurements: the others have something of the compiler in them. It stops at the first that is low enough. */
function bytesPerTask(round: () => void, lowEnough: number): number {
  for (let i = 0; i < WARM_ROUNDS; i++) round();
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < MOST_MEASUREMENTS && least >= lowEnough; i++) {
    const bytes = allocatedBytes(() => {
      for (let no = 0; no < ROUNDS; no++) round();
    });
    least = Math.min(least, bytes / (ROUNDS * TASKS));
  }
  return least;
}

const claimOf = (no: number) => ({ shard: 5, runId: 123_456_789_000 + no, task: 0, attempt: 1, fence: 1 });
const assignments = Array.from(
  { length: TASKS },
  (_, no): Assignment => ({
    claim: claimOf(no),
    token: Buffer.alloc(16, no),
    epoch: 3,
    tenant: 'default',
    dag: 'nightly',
    version: 1,
    run: `0190b2f0-1234-7abc-8def-0123456789${10 + (no % 90)}`,
    taskName: 'only',
    handler: 'nightly/only',
    work: '{"kind":"function"}',
    bundle: 'ab'.repeat(32),
    files: '',
    queue: 'default',
    timeoutMs: 0,
    effectKey: `0190b2f0-1234-7abc-8def-0123456789${10 + (no % 90)}/only`,
    params: '',
    upstream: [],
    failedUpstream: [],
    missingUpstream: [],
    runInfo: '',
    map: [],
    checkpoint: '',
    memoryBytes: 0,
    softTimeoutMs: 0,
    stuckMs: 0,
    booking: '',
    references: [],
  }),
);
const reports = assignments.map(
  ({ claim, token }): Report => ({
    claim,
    token,
    outcome: 'succeeded',
    output: '',
    error: '',
    startedAt: START,
    endedAt: START,
    code: '',
    retryAfterMs: 0,
    memoryBytes: 0,
    cpuMicros: 0,
    peakBytes: 0,
  }),
);
const answers = reports.map(({ claim }) => ({ claim, verdict: 'accepted' as const }));

/** Engine and one worker that takes whatever it gets and reports it in the next step. */
class OneJob {
  readonly #shard = 7 as ShardNo;
  readonly #state = new State({ ...DEFAULT_SETTINGS, zoneData: () => ({}) as never });
  readonly #worker = 'w' as WorkerId;
  readonly #tenantId = 1 as TenantId;
  readonly #actor = 'guard' as Actor;
  readonly #dagId: DagId;
  #held: ClaimRef[] = [];
  #stepNo = 0;
  ended = 0;

  constructor() {
    const heads = { schedules: [], runs: [], dags: [], versions: [], admitted: [], partial: [], tables: noTables() };
    const counters = { commitNo: 0, lastRunId: 0 as never, lastDagNo: 0, missedAgoMs: null, silentWorkers: [] };
    const shards = [{ shard: this.#shard, epoch: 1 as never, ...counters }];
    adoptShards(this.#state, { shards, ...heads }, { wall: START, mono: 0 });
    const named = { tenantId: this.#tenantId, tenant: 't', name: 'one', hash: 'x', actor: this.#actor };
    this.#step([{ kind: 'DeployDag', shard: this.#shard, spec: job(), ...named }]);
    this.#dagId = [...this.#state.dags.byId.keys()][0] as DagId;
  }

  /** Ends what was claimed in the round before, creates as many runs again, and claims them. */
  round(): void {
    const done = { workerId: this.#worker, outcome: 'succeeded', output: null, error: null, startedAt: null } as const;
    const commands: Command[] = this.#held.map((claim) => ({ kind: 'ReportAttempt', claim, ...done }));
    this.ended += commands.length;
    const at = START + this.#stepNo;
    const uid = makeRunUid(this.#shard, at as Instant, this.#stepNo * 2 ** 20, this.#stepNo);
    const items = Array.from({ length: TASKS }, () => ({ params: null, priority: null }));
    const named = { shard: this.#shard, tenantId: this.#tenantId, dagId: this.#dagId, actor: this.#actor };
    commands.push({ kind: 'SubmitRuns', uid, items, key: null, mayRepeat: false, ...named });
    const lent = { gateway: 'g' as NodeId, workerId: this.#worker, queues: ['default' as QueueName], count: TASKS };
    commands.push({ kind: 'LendSlots', tenants: [this.#tenantId], standing: false, agoMs: 0, ...lent });
    this.#step(commands);
  }

  #step(commands: readonly Command[]): void {
    this.#stepNo += 1;
    const [now, mono] = [(START + this.#stepNo) as Instant, this.#stepNo as MonoMs];
    const { effects } = step(this.#state, commands, {
      now,
      mono,
      seed: this.#stepNo,
      settledBatchNo: this.#state.batchNo,
      seen: null,
    });
    this.#held = effects.flatMap((effect) => (effect.kind === 'SendAssignment' ? [effect.claim] : []));
  }
}

const toWorker = encodeGatewayMessage({ assignments, answers });
const toGateway = encodeWorkerMessage({ reports });
const engine = new OneJob();

test.each([
  ['to write its assignment and answer', 200, () => encodeGatewayMessage({ assignments, answers })],
  ['to read them', 1_250, () => parseGatewayMessage(toWorker)],
  ['to write its report', 150, () => encodeWorkerMessage({ reports })],
  ['to read it', 600, () => parseWorkerMessage(toGateway)],
  ['in the engine: created, claimed, ended', 3_900, () => engine.round()],
])(
  'a task allocates few bytes %s',
  (_, most, round) => {
    expect(bytesPerTask(round, most)).toBeLessThan(most);
  },
  COUNTING_MS,
);

test('the measured engine ends tasks', () => {
  expect(engine.ended).toBeGreaterThan(TASKS * WARM_ROUNDS);
});
