/**
 * How long the engine takes per task, alone: submit, claim and report of runs with one task, in steps of 500 commands. In time of
 * the processor, which others on the machine hardly change.
 *
 *   npx tsc -b packages/engine && node packages/engine/dist/testing/bench-engine.js
 *   node --cpu-prof packages/engine/dist/testing/bench-engine.js job 2000000
 */

import { adoptShards } from '../apply/restore.ts';
import { type StepResult, step } from '../engine.ts';
import type { ClaimRef, Command, ReportAttempt } from '../model/command.ts';
import type { DagSpec } from '../model/dag/spec.ts';
import {
  type Actor,
  type DagId,
  type Instant,
  type MonoMs,
  makeRunUid,
  type NodeId,
  type RunUid,
  type TenantId,
  type WorkerId,
} from '../model/ids.ts';
import { noTables } from '../model/table/stored-tables.ts';
import { DEFAULT_SETTINGS, State } from '../tables/state.ts';
import { START } from './node.ts';
import { chain, dag, fan, job, task } from './specs.ts';

declare const console: { log(text: string): void };

declare const process: {
  argv: readonly string[];
  cpuUsage(): { user: number; system: number };
  memoryUsage(): { heapUsed: number; arrayBuffers: number };
};

const BATCH = 500;
/** Runs of one submission. */
const ITEMS = 1_000;
const SHARD = 7 as never;
const [gateway, workerId, actor] = ['gateway' as NodeId, 'worker' as WorkerId, 'bench' as Actor];

class Bench {
  private readonly state = new State({ ...DEFAULT_SETTINGS, zoneData: () => ({}) as never });
  private readonly dags: { readonly dagId: DagId; readonly tenantId: TenantId }[];
  private readonly tenants: readonly TenantId[];
  private submitted = 0;
  private readonly uids: RunUid[];
  private batchNo = 0;
  private now = 0;
  private held: ClaimRef[] = [];
  ended = 0;

  constructor(spec: DagSpec, { tenants = 1, dags = 1 } = {}) {
    this.tenants = Array.from({ length: tenants }, (_, i) => (i + 1) as TenantId);
    const shard = {
      shard: SHARD,
      epoch: 1 as never,
      commitNo: 0,
      lastRunId: 0 as never,
      lastDagNo: 0,
      missedAgoMs: null,
      silentWorkers: [],
    };
    const none = {
      schedules: [],
      runs: [],
      dags: [],
      versions: [],
      admitted: [],
      partial: [],
      tables: noTables(),
    };
    adoptShards(this.state, { shards: [shard], ...none }, { wall: START, mono: 0 });
    for (let i = 0; i < dags; i++) {
      const tenantId = this.tenants[i % tenants]!;
      const named = { tenantId, tenant: `t${tenantId}`, name: `bench-${i}`, hash: 'x' };
      this.step([{ kind: 'DeployDag', shard: SHARD, spec, actor, ...named }]);
    }
    this.dags = [...this.state.dags.byId.values()].map(({ id, tenantId }) => ({ dagId: id, tenantId }));
    this.uids = Array.from({ length: 100_000 }, (_, i) => makeRunUid(SHARD, (START + i) as Instant, i * 2 ** 24, i));
  }

  /** New runs, the reports of what was claimed before, and as many slots again. */
  turn(submissions: number, slots = BATCH): void {
    const commands: Command[] = this.held.map((claim) => this.report(claim));
    this.ended += this.held.length;
    this.held = [];
    for (let i = 0; i < submissions; i++) commands.push(this.submission(1));
    commands.push({
      kind: 'LendSlots',
      tenants: this.tenants,
      gateway,
      workerId,
      queues: ['default' as never],
      count: slots,
      standing: false,
      agoMs: 0,
    });
    if (this.batchNo % 20 === 0) commands.push({ kind: 'Tick' });
    this.step(commands);
  }

  /** So many tasks wait, spread over all dags. */
  fill(count: number): void {
    for (let left = count; left > 0; left -= ITEMS) {
      this.step([this.submission(Math.min(left, ITEMS))]);
      this.now += 1_000;
    }
  }

  private submission(count: number): Command {
    const { dagId, tenantId } = this.dags[this.submitted % this.dags.length]!;
    const uid = this.uids[this.submitted % this.uids.length]!;
    this.submitted += 1;
    const items = Array.from({ length: count }, () => ({ params: null, priority: null }));
    const rest = { key: null, mayRepeat: false, actor };
    return { kind: 'SubmitRuns', shard: SHARD, tenantId, dagId, uid, items, ...rest };
  }

  get isIdle(): boolean {
    return this.held.length === 0;
  }

  /** What each report of a task says that maps may run over. */
  output: string | null = null;
  /** How long each step took in time of the processor, which others on the machine hardly change; asked for by `isTimed`. */
  readonly stepMs: number[] = [];
  isTimed = false;
  /** The last step left something to do. */
  isFull = false;

  private report(claim: ClaimRef): ReportAttempt {
    const { output } = this;
    return { kind: 'ReportAttempt', claim, workerId, outcome: 'succeeded', output, error: null, startedAt: null };
  }

  private step(commands: readonly Command[]): void {
    this.now += 5;
    const time = { now: (START + this.now) as Instant, mono: this.now as MonoMs };
    const start = this.isTimed ? cpuMs() : 0;
    const result: StepResult = step(this.state, commands, {
      ...time,
      seed: 1,
      settledBatchNo: this.batchNo - 1,
      seen: null,
    });
    if (this.isTimed) this.stepMs.push(cpuMs() - start);
    this.isFull = result.more;
    this.batchNo = result.batchNo;
    for (const effect of result.effects) if (effect.kind === 'SendAssignment') this.held.push(effect.claim);
  }
}

function flow(name: string, spec: DagSpec, tasks: number): void {
  const bench = new Bench(spec);
  const perRun = spec.tasks.length;
  const submissions = Math.floor(BATCH / perRun);
  for (const part of ['warm', 'measured']) {
    const [from, start] = [bench.ended, cpuMs()];
    while (bench.ended - from < tasks) bench.turn(submissions);
    const us = ((cpuMs() - start) * 1000) / (bench.ended - from);
    if (part === 'measured') console.log(`${name}: ${us.toFixed(2)} µs a task`);
  }
}

function single(name: string, spec: DagSpec): void {
  const times = Array.from({ length: 7 }, () => {
    const bench = new Bench(spec);
    const start = cpuMs();
    bench.turn(1);
    while (!bench.isIdle) bench.turn(0);
    return cpuMs() - start;
  });
  const best = Math.min(...times);
  console.log(`${name}: ${best.toFixed(1)} ms, ${((best * 1000) / spec.tasks.length).toFixed(2)} µs a task`);
}

/** list → work for each of `size` items → sum: until all has ended, in steps of at most 500 reports. */
function map(size: number): void {
  const over = { from: 'task', task: 0, fact: 0 } as const;
  const spec = dag([task('list', [], { facts: [[]] }), task('work', [], { group: 0 }), task('sum', [1])], {
    groups: [{ name: 'work', parent: null, map: { over: [over], mode: 'product' } }],
    maxMapSize: size,
  });
  const found = Array.from({ length: size > 10_000 ? 3 : 7 }, () => {
    const bench = new Bench(spec);
    bench.isTimed = true;
    bench.output = JSON.stringify(Array.from({ length: size }, () => 0));
    const before = memoryMb();
    const start = cpuMs();
    bench.turn(1);
    let memory = 0;
    for (let turn = 0; !bench.isIdle || bench.isFull; turn++) {
      bench.turn(0);
      if (bench.ended === 1) bench.output = null;
      if (turn % 20 === 0) memory = Math.max(memory, memoryMb() - before);
    }
    return { ms: cpuMs() - start, steps: bench.stepMs.sort((a, b) => a - b), memory, ended: bench.ended };
  });
  const best = found.reduce((a, b) => (b.ms < a.ms ? b : a));
  if (best.ended !== size + 2) throw new Error(`${best.ended} of ${size + 2} tasks have ended`);
  const stepAt = (share: number) => best.steps[Math.ceil(best.steps.length * share) - 1]!.toFixed(1);
  const figures = `${best.ms.toFixed(1)} ms, ${((best.ms * 1000) / size).toFixed(2)} µs an item`;
  const steps = `steps ${stepAt(0.5)} ms, 95 of 100 under ${stepAt(0.95)} ms, the longest ${stepAt(1)} ms`;
  console.log(`map of ${size}: ${figures}, ${steps}, ${best.memory.toFixed(0)} MB`);
}

/** What a task takes from submit to end while so many others wait, of so many dags and tenants. */
function waiting(count: number, dags: number, tenants: number): void {
  const bench = new Bench(job(), { dags, tenants });
  bench.fill(count);
  const SLOTS = 100;
  for (const part of ['warm', 'measured']) {
    const [from, start] = [bench.ended, cpuMs()];
    while (bench.ended - from < 100_000) bench.turn(SLOTS, SLOTS);
    const us = ((cpuMs() - start) * 1000) / (bench.ended - from);
    const what = `${count} waiting, ${dags} dags, ${tenants} tenants`;
    if (part === 'measured') console.log(`${what}: ${us.toFixed(2)} µs a task`);
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function memoryMb(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 2 ** 20;
}

const [, , what = 'all', count = '300000'] = process.argv;
if (what === 'job' || what === 'all') flow('jobs', job(), Number(count));
if (what === 'chain' || what === 'all') flow('chains of three', chain('a', 'b', 'c'), Number(count));

if (what === 'all') {
  for (const size of [1_000, 10_000]) single(`fan of ${size}`, fan(size - 2));
  for (const size of [1_000, 10_000])
    single(`chain of ${size}`, chain(...Array.from({ length: size }, (_, i) => `t${i}`)));
}

if (what === 'map' || what === 'all') for (const size of [1_000, 10_000, 100_000]) map(size);

if (what === 'waiting' || what === 'all') {
  const cases = [
    [100, 10, 1],
    [1_000_000, 10, 1],
    [1_000_000, 100_000, 1],
    [100, 200, 200],
    [1_000_000, 100_000, 200],
  ] as const;
  for (const [tasks, dags, tenants] of cases) waiting(tasks, dags, tenants);
}
