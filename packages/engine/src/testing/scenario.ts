/**
 * Sentences about the engine, for tests:
 *
 *   const box = scenario({ dag: chain('extract', 'load'), workers: ['w1'] });
 *   const attempt = box.claim('extract');
 *   box.killOwner().advance('6s');
 *   expect(box.report(attempt, 'succeeded')).toEqual(accepted);
 *   expect(box.task('load').state).toBe('ready');
 */

import type { Effect, SendAssignment } from '../decide/effect.ts';
import { type Answer, RECORDED } from '../model/answer.ts';
import type { Change } from '../model/change.ts';
import type { ClaimRef, Command, LendSlots, MarkTasks, ReportAttempt, SubmitRuns } from '../model/command.ts';
import type { DagSpec, Priority, ScheduleSpec } from '../model/dag/spec.ts';
import {
  type Actor,
  type DagId,
  type Instant,
  makeRunUid,
  type RunId,
  type RunRow,
  type RunUid,
  type TaskNo,
  type TaskSlot,
  type TenantId,
} from '../model/ids.ts';
import { addAmounts } from '../model/placement.ts';
import { RUN_OUTCOMES, RUN_PHASES, type RunOutcome, type RunPhase } from '../model/run/phase.ts';
import type { Mark, ReportedOutcome } from '../model/task/outcome.ts';
import { TASK_STATE_NAMES, type TaskState } from '../model/task/task-states.ts';
import { numberIn } from '../tables/map/run-maps.ts';
import { ADMITTED } from '../tables/run/run-table.ts';
import { slotOf } from '../tables/task/task-slots.ts';
import { NO_TASK } from '../tables/task/task-table.ts';
import { type NodeOptions, TestNode } from './node.ts';
import { ScriptedWorker } from './scripted-worker.ts';
import { type Span, spanMs } from './specs.ts';

export const accepted: Answer = RECORDED;
export const TENANT = 1 as TenantId;
const ACTOR = 'test' as Actor;
const MANUAL = { tenantId: TENANT, force: false, dryRun: false, actor: ACTOR } as const;

export interface ScenarioOptions extends NodeOptions {
  readonly dag?: DagSpec;
  /** Their names, or their names with the queues they listen to. */
  readonly workers?: readonly string[] | Readonly<Record<string, readonly string[]>>;
  /** How many runs of the dag there are at the start; 1 unless the dag has a schedule. */
  readonly runs?: number;
}

export interface NewRuns {
  readonly count?: number;
  readonly priority?: Priority | null;
}

export interface ManualOptions {
  readonly runId?: RunId;
  readonly states?: readonly TaskState[];
  readonly downstream?: boolean;
  readonly upstream?: boolean;
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

export interface Attempt {
  readonly claim: ClaimRef;
  readonly worker: ScriptedWorker;
  readonly task: string;
}

export function scenario(options: ScenarioOptions = {}): Scenario {
  return new Scenario(options);
}

export class Scenario {
  readonly node: TestNode;
  readonly workers = new Map<string, ScriptedWorker>();
  readonly effects: Effect[] = [];
  readonly actor = ACTOR;
  /** In the order they were created. */
  readonly runIds: RunId[] = [];
  dagId = 0 as DagId;
  private uidCount = 0;
  private hashCount = 0;

  constructor({ dag, workers = ['w1'], runs, ...options }: ScenarioOptions) {
    this.node = new TestNode(options);
    this.node.onEffect = (effect) => this.deliver(effect);
    this.node.onDecided = ({ changes }) => {
      for (const change of changes) if (change.kind === 'RunCreated') this.runIds.push(change.runId);
    };
    const named = Array.isArray(workers)
      ? workers.map((name) => [name, ['default']] as const)
      : Object.entries(workers);
    for (const [name, queues] of named) this.workers.set(name, new ScriptedWorker(name, queues));
    if (dag === undefined) return;
    this.dagId = this.deploy(dag);
    const count = runs ?? (dag.schedule === null ? 1 : 0);
    for (let i = 0; i < count; i++) this.submit();
  }

  get state() {
    return this.node.state;
  }

  get shard() {
    return this.node.shards[0]!;
  }

  // What callers do.

  deploy(spec: DagSpec, name = 'etl'): DagId {
    const answer = this.tryDeploy(spec, name);
    if (!answer.ok || answer.kind !== 'deployed') throw new Error(`The dag was refused: ${JSON.stringify(answer)}`);
    return answer.dagId;
  }

  tryDeploy(spec: DagSpec, name = 'etl', hash = `hash-${++this.hashCount}`): Answer {
    const { shard } = this;
    return this.feed({ kind: 'DeployDag', shard, tenantId: TENANT, tenant: 'acme', name, spec, hash, actor: ACTOR });
  }

  /** A new run; it comes last in `runIds`. */
  submit({ count = 1, priority = null, ...more }: Partial<SubmitRuns> & NewRuns = {}): Answer {
    const items = Array.from({ length: count }, () => ({ params: null, priority }));
    return this.feed(this.submission({ items, ...more }));
  }

  submission(more: Partial<SubmitRuns> = {}): SubmitRuns {
    const { shard, dagId } = this;
    const what = { shard, tenantId: TENANT, dagId, uid: this.newUid(), items: [{ params: null, priority: null }] };
    return { kind: 'SubmitRuns', ...what, key: null, mayRepeat: false, actor: ACTOR, ...more };
  }

  newUid(): RunUid {
    return makeRunUid(this.shard, this.node.wall, 0, ++this.uidCount);
  }

  cancel(runId = this.lastRun(), tenantId = TENANT): Answer {
    return this.feed({ kind: 'CancelRun', tenantId, runId, actor: ACTOR });
  }

  /** Cancelled, and what closes it is ended too. */
  force(runId = this.lastRun()): Answer {
    return this.feed({ kind: 'CancelRun', tenantId: TENANT, runId, force: true, actor: ACTOR });
  }

  /** By its name, or by its number. */
  retry(task: string | number, runId = this.lastRun(), tenantId = TENANT): Answer {
    const taskNo = typeof task === 'number' ? (task as TaskNo) : this.taskNo(task, runId);
    return this.feed({ kind: 'RetryTask', tenantId, runId, taskNo, actor: ACTOR });
  }

  /** Tasks by their names; all of them when none is named. */
  clear(names: readonly string[] | null, more: ManualOptions = {}): Answer {
    const { runId = this.lastRun(), states = null, downstream = false, upstream = false, ...how } = more;
    const select = { tasks: names?.map((name) => this.taskNo(name, runId)) ?? null, states, downstream, upstream };
    return this.feed({ kind: 'ClearTasks', runId, select, ...MANUAL, ...how });
  }

  mark(name: string, as: Mark, more: ManualOptions & Partial<Pick<MarkTasks, 'output' | 'reason'>> = {}): Answer {
    const { runId = this.lastRun(), output = null, reason = null, force = false, dryRun = false } = more;
    const tasks = [this.taskNo(name, runId)];
    return this.feed({ kind: 'MarkTasks', runId, tasks, as, output, reason, ...MANUAL, force, dryRun });
  }

  /** One task, or (null) the run. */
  setPaused(name: string | null, paused = true, runId = this.lastRun()): Answer {
    const taskNo = name === null ? null : this.taskNo(name, runId);
    return this.feed({ kind: 'SetPaused', tenantId: TENANT, runId, taskNo, paused, actor: ACTOR });
  }

  setPriority(priority: Priority, runId = this.lastRun()): Answer {
    return this.feed({ kind: 'SetPriority', tenantId: TENANT, runId, priority, actor: ACTOR });
  }

  /** One schedule, or all of the dag. */
  pause(paused = true, name?: string): Answer {
    const one = name === undefined ? {} : { name };
    return this.feed({ kind: 'SetSchedulePaused', ...this.#ofDag(), ...one, paused });
  }

  createSchedules(schedules: Readonly<Record<string, ScheduleSpec>>): Answer {
    const list = Object.entries(schedules).map(([name, spec]) => ({ name, spec }));
    return this.feed({ kind: 'CreateSchedules', ...this.#ofDag(), schedules: list });
  }

  editSchedule(name: string, spec: ScheduleSpec): Answer {
    return this.feed({ kind: 'EditSchedule', ...this.#ofDag(), name, spec });
  }

  deleteSchedule(name: string): Answer {
    return this.feed({ kind: 'DeleteSchedule', ...this.#ofDag(), name });
  }

  #ofDag() {
    const { shard, dagId } = this;
    return { shard, tenantId: TENANT, dagId, actor: ACTOR };
  }

  retire(dagId = this.dagId, tenantId = TENANT): Answer {
    return this.feed({ kind: 'RetireDag', shard: this.shard, tenantId, dagId, actor: ACTOR });
  }

  strike(runId = this.lastRun(), setAside = false): Answer {
    return this.feed({ kind: 'StrikeRun', runId, reason: 'It threw.', setAside });
  }

  // What workers do.

  worker(name = this.workers.keys().next().value!): ScriptedWorker {
    return this.workers.get(name)!;
  }

  /** The worker lends a slot, and gets this task. */
  claim(task: string, worker = this.worker()): Attempt {
    const attempt = this.tryClaim(worker);
    if (attempt?.task !== task) throw new Error(`The slot went to ${attempt?.task ?? 'nobody'}, not to ${task}.`);
    return attempt;
  }

  /** The worker lends a slot for one decision; null when there is nothing to do for it. */
  tryClaim(worker = this.worker()): Attempt | null {
    const before = this.effects.length;
    this.lend(worker, 1);
    const sent = this.effects.slice(before).find((effect) => effect.kind === 'SendAssignment');
    return sent === undefined ? null : this.attemptOf(sent);
  }

  lend(worker: ScriptedWorker, count: number, standing = false, agoMs = 0, more: Partial<LendSlots> = {}): this {
    const { gateway, id: workerId, tenants, queues } = worker;
    this.feed({ kind: 'LendSlots', gateway, workerId, tenants, queues, count, standing, agoMs, ...more });
    return this;
  }

  report(attempt: Attempt, outcome: ReportedOutcome, more: Partial<ReportAttempt> = {}): Answer {
    attempt.worker.drop(attempt.claim);
    return this.feed(reportOf(attempt, outcome, more));
  }

  /** The claim as the worker refuses it. */
  refuse({ claim, worker }: Attempt): Answer {
    worker.drop(claim);
    return this.feed({ kind: 'RefuseClaim', claim, workerId: worker.id });
  }

  /** Heard by its gateway, which tells the owner what the worker holds, and of which owner it knows. */
  heartbeat(worker = this.worker(), { knows = true, agoMs = 0, isDraining = false } = {}): this {
    const { gateway, id: workerId, holds } = worker;
    const owners = knows ? [...this.state.shards.values()].map(({ shard, epoch }) => ({ shard, epoch })) : [];
    this.feed({ kind: 'WorkerHeard', gateway, workerId, agoMs, holds: [...holds], isDraining, knows: owners });
    return this;
  }

  /** Heard, with how long ago this attempt told of progress. */
  progress(claim: ClaimRef, progressAgoMs: number, worker = this.worker()): this {
    const { gateway, id: workerId } = worker;
    const holds = worker.holds.map((held) =>
      held.fence === claim.fence && held.runId === claim.runId ? { ...held, progressAgoMs } : held,
    );
    const knows = [...this.state.shards.values()].map(({ shard, epoch }) => ({ shard, epoch }));
    this.feed({ kind: 'WorkerHeard', gateway, workerId, agoMs: 0, holds, knows });
    return this;
  }

  extend({ claim, worker }: Attempt, byMs: number): Answer {
    return this.feed({ kind: 'ExtendAttempt', claim, workerId: worker.id, byMs });
  }

  leave(worker = this.worker()): this {
    worker.holds = [];
    this.feed({ kind: 'WorkerLeft', gateway: worker.gateway, workerId: worker.id });
    return this;
  }

  // What happens to the node.

  feed(command: Command): Answer {
    return this.node.feed(command);
  }

  /** Time passes, on both clocks; what comes due is done when it does. */
  advance(span: Span, beating: readonly ScriptedWorker[] = []): this {
    const [total, beatMs] = [spanMs(span), 3_000];
    for (let passed = 0; passed < total; passed += beatMs) {
      const part = beating.length === 0 ? total : Math.min(beatMs, total - passed);
      this.node.advance(part);
      for (const worker of beating) this.heartbeat(worker);
      if (part === total) break;
    }
    return this;
  }

  /** The wall clock is set; no time passes. */
  leap(span: Span): this {
    this.node.wall = (this.node.wall + spanMs(span)) as Instant;
    this.node.work();
    return this;
  }

  /** The owner is killed, and another one has taken over: at once, or after a time without one. */
  killOwner(away: Span = '0s'): this {
    this.node.kill(spanMs(away));
    return this;
  }

  /** From now on commits are in flight until they are let go. */
  hold(): this {
    this.node.isHolding = true;
    return this;
  }

  settle(): this {
    this.node.isHolding = false;
    this.node.settle();
    return this;
  }

  // What is to be seen.

  task(name: string, runId = this.lastRun()) {
    const { runs, tasks } = this.state;
    const run = runs.find(runId);
    const slot = run < 0 ? NO_TASK : this.slotNamed(run, name);
    if (slot < 0) throw new Error(`There is no task ${name} of run ${runId} in memory.`);
    return {
      state: TASK_STATE_NAMES[tasks.state[slot]!] as TaskState,
      attemptCount: tasks.attemptNo[slot]!,
      lostCount: tasks.lostCount[slot]!,
      fence: tasks.fence[slot]!,
    };
  }

  private slotNamed(run: RunRow, name: string): TaskSlot {
    const { runs } = this.state;
    const [plain, ...places] = name.split('[');
    const spec = runs.versionOf(run).spec.tasks.findIndex((task) => task.name === plain);
    let no = spec;
    for (const place of spec < 0 ? [] : places) {
      const expansion = runs.mapsOf(run)?.expansionOf(no);
      if (expansion === undefined) return NO_TASK;
      no = numberIn(expansion, Number.parseInt(place, 10), spec);
    }
    return no < 0 ? NO_TASK : slotOf(this.state, run, no);
  }

  /** Also of an instance of a map. */
  taskNo(name: string, runId = this.lastRun()): TaskNo {
    const run = this.state.runs.find(runId);
    return (
      run < 0
        ? this.versionOf(runId).findIndex((task) => task.name === name)
        : this.state.tasks.no[this.slotNamed(run, name)]
    ) as TaskNo;
  }

  run(runId = this.lastRun()): { phase: RunPhase; outcome: RunOutcome | null; admitted: boolean } {
    const { runs } = this.state;
    const run = runs.find(runId);
    if (run >= 0) {
      const outcome = RUN_OUTCOMES[runs.outcome[run]! - 1] ?? null;
      return { phase: RUN_PHASES[runs.phase[run]!]!, outcome, admitted: runs.has(run, ADMITTED) };
    }
    const stored = this.node.store.runsStored().find((row) => row.runId === runId)!;
    return { phase: stored.phase, outcome: stored.outcome, admitted: stored.admitted };
  }

  private versionOf(runId: RunId): DagSpec['tasks'] {
    const created = this.changes('RunCreated').find((change) => change.runId === runId);
    const deployed = this.changes('DagDeployed').filter(({ dagId }) => dagId === created?.dagId);
    return deployed.find(({ versionNo }) => versionNo === created?.versionNo)?.spec.tasks ?? [];
  }

  changes<K extends Change['kind']>(kind: K): Extract<Change, { kind: K }>[] {
    return this.node.journal.filter((change): change is Extract<Change, { kind: K }> => change.kind === kind);
  }

  lastRun(): RunId {
    return this.runIds.at(-1)!;
  }

  /** Instances of maps by their places: `load[3]`, `load[3][0]`. */
  attemptOf({ claim, workerId, version, specNo, map }: SendAssignment): Attempt {
    const places = map?.places.map(({ index }) => `[${index}]`).join('') ?? '';
    return { claim, worker: this.workers.get(workerId)!, task: version.task(specNo).name + places };
  }

  private deliver(effect: Effect): void {
    this.effects.push(effect);
    if (!('workerId' in effect)) return;
    const worker = this.workers.get(effect.workerId);
    if (effect.kind === 'SendAssignment') worker?.assign(effect);
    else if (effect.kind === 'KillAttempt') worker?.killed.push(effect);
    else if (worker !== undefined) {
      worker.returned += effect.count;
      addAmounts(worker.roomReturned, effect.room ?? {});
    }
  }
}

export function reportOf(attempt: Attempt, outcome: ReportedOutcome, more: Partial<ReportAttempt> = {}): ReportAttempt {
  const { claim, worker } = attempt;
  const base = { kind: 'ReportAttempt', claim, workerId: worker.id, outcome } as const;
  return { ...base, output: null, error: null, startedAt: null, ...more };
}
