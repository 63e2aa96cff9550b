/**
 * Draws changes that are valid after one another, from a seed. Several in a row may speak of one task or one run, so that
 * a batch holds whole lives: created, claimed, returned, claimed again, ended.
 */
import type {
  AttemptNo,
  AttemptOutcome,
  Change,
  DagDeployed,
  Fence,
  Fingerprint,
  Instant,
  ParentRef,
  RunId,
  ShardNo,
  TaskCleared,
  TaskNo,
  TaskNotes,
  TasksAdded,
  WorkerId,
} from '@signalbox/engine';
import { LETTER_REASONS, MARKS, makeRunUid, PRIORITIES } from '@signalbox/engine';
import { ACTOR, created, deployed, keyOf, newWorkerId } from './changes.ts';
import { Model, type ModelRun } from './model.ts';
import { seeded } from './seeded.ts';

const SCHEDULE = {
  cron: '*/5 * * * *',
  zone: 'Europe/Berlin',
  gap: 'skip',
  missed: 'latest',
  missedLimit: 10,
} as const;
const FAILURES = [
  'transient',
  'permanent',
  'timeout',
  'lost',
  'cancelled',
  'resource',
  'stuck',
] as const satisfies AttemptOutcome[];

const CLEARABLE: readonly string[] = ['succeeded', 'failed', 'retrying', 'cancelled', 'skipped', 'stopped'];
const CLAIMABLE: readonly string[] = ['returned', 'retrying', 'cleared'];

interface GeneratorOptions {
  readonly seed: number;
  readonly shards: readonly ShardNo[];
  readonly start: Instant;
  readonly newRunId: (shard: ShardNo) => RunId;
}

export class Generator {
  readonly model = new Model();
  readonly #random: () => number;
  readonly #shards: readonly ShardNo[];
  readonly #newRunId: (shard: ShardNo) => RunId;
  readonly #dags: DagDeployed[] = [];
  readonly #workers: readonly WorkerId[] = [newWorkerId(), newWorkerId(), newWorkerId()];
  readonly #tops = new Map<string, { readonly attemptNo: number; readonly fence: number }>();
  #changes: Change[] = [];
  #now: number;
  #count = 0;

  constructor({ seed, shards, start, newRunId }: GeneratorOptions) {
    this.#random = seeded(seed);
    this.#shards = shards;
    this.#newRunId = newRunId;
    this.#now = start;
  }

  get now(): Instant {
    return this.#now as Instant;
  }

  leap(ms: number): void {
    this.#now += ms;
  }

  /** The next batch; the model already has it. */
  batch(size: number): readonly Change[] {
    this.#changes = [];
    for (const shard of this.#shards) if (!this.#dags.some((dag) => dag.shard === shard)) this.#deploy(shard);
    while (this.#changes.length < size) this.#draw();
    return this.#changes;
  }

  #draw(): void {
    const shard = this.#one(this.#shards);
    const live = [...this.model.runs.values()].filter(({ phase }) => phase !== 'ended');
    const run = live.length > 0 ? this.#one(live) : null;
    const chance = this.#random();
    if (chance < 0.03) return this.#deploy(shard);
    if (chance < 0.08) return this.#schedule(this.#one(this.#dags));
    if (chance < 0.09) return this.#retire(this.#one(this.#dags));
    if (chance < 0.11) return this.#silence(shard);
    if (chance < 0.13) return this.#random() < 0.5 ? this.#break(this.#one(this.#dags)) : this.#closeDeadLetter();
    if (chance < 0.33 || run === null) {
      this.#create(this.#one(this.#dags), null);
      return;
    }
    if (chance < 0.36) return this.#admitOrStrike(run);
    if (chance < 0.38) return this.#mark();
    if (chance < 0.4) return this.#clear();
    if (chance < 0.42) return this.#pause(run);
    if (chance < 0.47) return this.#close(run);
    if (chance < 0.53) return this.#map(run);
    this.#work(run);
  }

  #deploy(shard: ShardNo): void {
    const own = this.#dags.filter((dag) => dag.shard === shard);
    const again = own.length > 2 ? this.#one(own) : null;
    const dag = deployed(shard, again === null ? own.length + 1 : Math.floor(again.dagId / 64), 1, this.#tick());
    const versionNo = this.model.versions.filter(({ dagId }) => dagId === dag.dagId).length + 1;
    const plain = deployed(shard, Math.floor(dag.dagId / 64), versionNo, dag.at);
    const onEvent = this.#random() < 0.3 ? { on: { event: `event ${versionNo}` } } : {};
    const params = this.#random() < 0.3 ? { paramsSchema: { type: 'object', title: `"${versionNo}"` } } : {};
    const spec = { ...plain.spec, ...onEvent, ...params };
    const next = { ...plain, spec };
    if (again === null) this.#dags.push(next);
    else this.#dags[this.#dags.indexOf(again)] = next;
    this.#emit(next);
  }

  /** Retires a dag, or brings it back as it was. */
  #retire({ shard, dagId, tenantId }: DagDeployed): void {
    const isRetired = this.model.dags.get(dagId)?.isRetired ?? false;
    if (isRetired) {
      const event = this.#random() < 0.5 ? `event ${this.#count}` : null;
      return this.#emit({ kind: 'DagRevived', shard, tenantId, dagId, event, actor: ACTOR, at: this.#tick() });
    }
    if (this.model.schedules.has(dagId)) this.#unschedule({ shard, dagId });
    this.#emit({ kind: 'DagRetired', shard, dagId, actor: ACTOR, at: this.#tick() });
  }

  #unschedule({ shard, dagId }: Pick<DagDeployed, 'shard' | 'dagId'>): void {
    const { decidedUntil } = this.model.schedules.get(dagId)!;
    this.#emit({ kind: 'ScheduleRemoved', shard, dagId, decidedUntil, actor: ACTOR, at: this.#tick() });
  }

  #schedule({ shard, dagId, ...dag }: DagDeployed): void {
    const known = this.model.schedules.get(dagId);
    const at = this.#tick();
    if (this.model.dags.get(dagId)?.isRetired) return;
    if (known === undefined || this.#random() < 0.3) {
      const revision = (known?.revision ?? 0) + 1;
      const spec = { ...SCHEDULE, missedLimit: revision };
      const paused = this.#random() < 0.3;
      const before = known?.decidedUntil ?? this.model.dags.get(dagId)?.windowsUntil ?? 0;
      const decidedUntil = Math.max(before, at) as Instant;
      const fault = this.#random() < 0.1 ? `it's "broken"\n` : null;
      const set = { shard, dagId, revision, spec, paused, decidedUntil, fault };
      return this.#emit({ kind: 'ScheduleSet', ...set, actor: ACTOR, at });
    }
    if (this.#random() < 0.15) return this.#unschedule({ shard, dagId });
    const firesAt = (known.decidedUntil + 1_000) as Instant;
    const window = { kind: 'WindowDecided', shard, dagId, firesAt, at } as const;
    if (this.#random() < 0.5) {
      const runId = this.#create({ shard, dagId, ...dag }, firesAt);
      return this.#emit({ ...window, wallTime: null, runId, skipped: null, count: 1, untilAt: firesAt });
    }
    const gap = this.#random() < 0.5;
    const untilAt = (firesAt + (gap ? 0 : 60_000)) as Instant;
    const skip = gap
      ? ({ skipped: 'gap', wallTime: '2026-03-29T02:30' } as const)
      : ({ skipped: 'missed', wallTime: null } as const);
    this.#emit({ ...window, ...skip, runId: null, count: gap ? 1 : 7, untilAt });
  }

  #create(dag: DagDeployed, firesAt: Instant | null): RunId {
    const runId = this.#newRunId(dag.shard);
    const no = ++this.#count;
    const params = this.#random() < 0.4 ? JSON.stringify({ no, text: `line\n"${no}"` }) : null;
    const fields = {
      priority: this.#one(PRIORITIES),
      admitted: this.#random() < 0.6,
      params,
      firesAt,
      at: this.#tick(),
    };
    const isChild = firesAt === null && this.#random() < 0.2;
    const run = created(dag, runId, {
      ...fields,
      ...(isChild ? { parent: this.#parent(runId) } : {}),
      cause: isChild ? 'parent' : firesAt !== null ? 'schedule' : this.#random() < 0.3 ? 'event' : 'api',
    });
    this.#emit(run);
    if (firesAt === null && this.#random() < 0.4) this.#emit(keyOf(run, dag.shard, `key ${no}`));
    return runId;
  }

  /** A call of a task of some run, which need not be of these shards. */
  #parent(of: RunId): ParentRef {
    const no = Math.floor(this.#random() * 1_000);
    const claim = { runId: (of - no) as RunId, taskNo: no as TaskNo, attemptNo: 1 as AttemptNo, fence: 2 as Fence };
    const uid = makeRunUid(5 as ShardNo, this.#tick(), no, no);
    return { ...claim, uid, task: `"${no}"`, depth: 1 + (no % 16), waits: no % 2 === 0 };
  }

  #admitOrStrike({ runId, admitted, strikes }: ModelRun): void {
    const at = this.#tick();
    if (!admitted) return this.#emit({ kind: 'RunAdmitted', runId, at });
    if (strikes >= 2) return;
    const struck = { strikes: strikes + 1, setAside: strikes === 1, reason: `Error: it's "broken"\n  at step` };
    this.#emit({ kind: 'RunStruck', runId, ...struck, at });
  }

  #close(run: ModelRun): void {
    const { runId } = run;
    const outcome = run.outcome ?? this.#one(['succeeded', 'failed', 'cancelled'] as const);
    if (run.phase === 'open' && this.#random() < 0.3) {
      const kind = this.#random() < 0.5 ? 'RunSlow' : 'RunTimedOut';
      this.#emit({ kind, runId, notes: `{"slowAt":${this.#now}}`, at: this.#tick() });
    }
    const grace = this.#random() < 0.3 ? { graceMs: 60_000 } : {};
    if (run.phase === 'open')
      this.#emit({ kind: 'RunClosing', runId, outcome, ...grace, actor: ACTOR, at: this.#tick() });
    if (this.#random() < 0.3 && !run.isForced) this.#emit({ kind: 'RunForced', runId, actor: ACTOR, at: this.#tick() });
    if (this.#random() < 0.4) return;
    for (const { taskNo } of run.tasks.filter(({ state }) => state === 'running'))
      this.#end(run, taskNo, 'cancelled', null);
    this.#emit({ kind: 'RunEnded', runId, outcome, at: this.#tick() });
  }

  /** Has a task tried again that failed, waits, or was stopped; one of a run that has ended opens it. */
  #clear(): void {
    const isClearable = ({ state }: { readonly state: string }) => CLEARABLE.includes(state);
    const runs = [...this.model.runs.values()].filter(
      (run) => run.phase !== 'closing' && !run.setAside && run.tasks.some(isClearable),
    );
    if (runs.length === 0) return;
    const run = this.#one(runs);
    const { runId } = run;
    const { taskNo, attemptNo, fence, state } = this.#one(run.tasks.filter(isClearable));
    if (run.phase === 'ended') {
      const retryNo = this.#random() < 0.5 ? run.retries + 1 : 0;
      const admitted = this.#random() < 0.6;
      const asClosing = run.outcome === 'cancelled' || this.#random() < 0.3 ? { asClosing: true as const } : {};
      const notes = this.#random() < 0.3 ? { notes: `{"reopens":${this.#now}}` } : {};
      const how = { admitted, retryNo, ...asClosing, ...notes };
      this.#emit({ kind: 'RunReopened', runId, ...how, actor: ACTOR, at: this.#tick() });
    }
    const from = state as TaskCleared['from'];
    const cleared = { runId, taskNo, attemptNo, fence, from, freshBudget: from !== 'retrying', more: false } as const;
    this.#emit({ kind: 'TaskCleared', ...cleared, actor: ACTOR, at: this.#tick(), ...this.#notes() });
  }

  /** Says what has become of a task, claimed or not. */
  #mark(): void {
    const runs = [...this.model.runs.values()].filter((run) => run.phase === 'open' && !run.setAside);
    if (runs.length === 0) return;
    const run = this.#one(runs);
    const taskNo = Math.floor(this.#random() * 4) as TaskNo;
    const task = run.tasks.find((one) => one.taskNo === taskNo);
    if (task?.state === 'running') return;
    const attemptNo = ((task?.attemptNo ?? 0) - (task?.state === 'returned' ? 1 : 0)) as AttemptNo;
    const state = this.#one(MARKS);
    const fence = Math.max(task?.fence ?? 0, this.#topOf(run.runId, taskNo).fence) + 1;
    const done = state === 'succeeded';
    this.#emit({
      kind: 'TaskMarked',
      ...{ runId: run.runId, taskNo, attemptNo, fence: fence as Fence, state },
      ...{ firstOfTask: task === undefined, firstOfRun: !run.claimed },
      output: done && this.#random() < 0.5 ? `{"marked":${this.#now}}` : null,
      facts: done && this.#random() < 0.3 ? '{"values":[{"v":1}]}' : null,
      reason: this.#random() < 0.5 ? `it's "known"\n` : null,
      actor: ACTOR,
      at: this.#tick(),
    });
  }

  #pause({ runId, pauses }: ModelRun): void {
    const taskNo = this.#random() < 0.5 ? null : (Math.floor(this.#random() * 3) as TaskNo);
    const paused = !pauses.some((pause) => pause.taskNo === taskNo);
    const until = paused && this.#random() < 0.3 ? ((this.#now + 5_000) as Instant) : null;
    this.#emit({ kind: 'PauseSet', runId, taskNo, paused, until, actor: ACTOR, at: this.#tick() });
  }

  /** Moves one task on: claims it, gives the claim back, or ends the attempt. */
  #work(run: ModelRun): void {
    const taskNo = Math.floor(this.#random() * 3) as TaskNo;
    const task = run.tasks.find((one) => one.taskNo === taskNo);
    if (task?.state === 'running') {
      const chance = this.#random();
      const { runId } = run;
      if (chance < 0.08) {
        const { attemptNo, fence } = task;
        const noted = { runId, taskNo, attemptNo, fence, notes: `{"slowAt":${this.#now}}`, at: this.#tick() };
        if (chance < 0.04) return this.#emit({ kind: 'TaskSlow', ...noted });
        return this.#emit({ kind: 'AttemptExtended', ...noted, deadlineAt: (this.#now + 9_000) as Instant });
      }
      if (chance < 0.2) return this.#second(run, task);
      if (chance < 0.27) {
        const reason = this.#one(['refused', 'undelivered', 'drained'] as const);
        return this.#emit({ kind: 'ClaimReturned', runId, taskNo, fence: task.fence, reason, at: this.#tick() });
      }
      if (chance < 0.4) return this.#checkpoint(run, task);
      if (chance < 0.65) return this.#end(run, taskNo, 'succeeded', null);
      const retryAt = this.#random() < 0.6 ? ((this.#now + 5_000) as Instant) : null;
      return this.#end(run, taskNo, this.#one(FAILURES), retryAt);
    }
    if (run.phase !== 'open' || (task !== undefined && !CLAIMABLE.includes(task.state))) return;
    const expiry = this.#random();
    if (expiry < 0.2) {
      const noted = { runId: run.runId, taskNo, notes: `{"queuedAt":${this.#now}}`, at: this.#tick() };
      if (task === undefined || expiry < 0.12)
        return this.#emit({ kind: 'TaskQueued', isNew: task === undefined, ...noted });
      const reason = this.#one(['queue', 'total'] as const);
      return this.#emit({ kind: 'TaskExpired', attemptNo: task.attemptNo, reason, ...noted });
    }
    const top = this.#topOf(run.runId, taskNo);
    const isNext = task?.state === 'retrying' || task?.state === 'cleared';
    const attemptNo = Math.max((task?.attemptNo ?? 1) + (isNext ? 1 : 0), top.attemptNo + 1) as AttemptNo;
    const fence = (Math.max(task?.fence ?? 0, top.fence) + 1) as Fence;
    const claim = { runId: run.runId, taskNo, attemptNo, fence };
    const first = { firstOfTask: task === undefined, firstOfRun: !run.claimed };
    const by = { workerId: this.#one(this.#workers), at: this.#tick() };
    this.#emit({ kind: 'AttemptClaimed', ...claim, ...first, ...by, ...this.#notes() });
  }

  /** The highest number and fence that a second attempt of the task had. */
  #topOf(runId: RunId, taskNo: TaskNo): { readonly attemptNo: number; readonly fence: number } {
    return this.#tops.get(`${runId}/${taskNo}`) ?? { attemptNo: 0, fence: 0 };
  }

  /** A second attempt begins beside the one that runs, never began, ends, or takes over. */
  #second({ runId }: ModelRun, task: ModelRun['tasks'][number]): void {
    const { taskNo } = task;
    const kept = JSON.parse(task.notes ?? '{}') as TaskNotes;
    const { second } = kept;
    const isRunning = second !== undefined && second.over === undefined;
    const workerId = this.#one(this.#workers);
    if (!isRunning) {
      const top = this.#topOf(runId, taskNo);
      const attemptNo = (Math.max(task.attemptNo, top.attemptNo) + 1) as AttemptNo;
      const fence = (Math.max(task.fence, top.fence) + 1) as Fence;
      this.#tops.set(`${runId}/${taskNo}`, { attemptNo, fence });
      const at = this.#tick();
      const notes = JSON.stringify({ ...kept, second: { attemptNo, fence, workerId, claimedAt: at } });
      return this.#emit({ kind: 'SecondClaimed', runId, taskNo, attemptNo, fence, workerId, notes, at });
    }
    const { attemptNo, fence, claimedAt } = second;
    const chance = this.#random();
    if (chance < 0.2) {
      const notes = JSON.stringify({ ...kept, second: { ...second, attemptNo: 0, over: 'returned' } });
      return this.#emit({ kind: 'SecondReturned', runId, taskNo, fence, reason: 'refused', notes, at: this.#tick() });
    }
    const endedAt = this.#tick();
    const ended = {
      ...{ runId, taskNo, outcome: this.#one(FAILURES), endedAt },
      startedAt: this.#random() < 0.7 ? endedAt : null,
      error: this.#random() < 0.7 ? `failed at ${endedAt}: 'y'` : null,
      code: this.#random() < 0.5 ? 'superseded' : null,
    };
    if (chance < 0.6) {
      const notes = JSON.stringify({ ...kept, second: { ...second, over: ended.outcome } });
      return this.#emit({
        kind: 'SecondEnded',
        ...{ ...ended, attemptNo, fence, workerId: second.workerId, claimedAt, notes },
      });
    }
    const first = { attemptNo: task.attemptNo, fence: task.fence, workerId: task.workerId, claimedAt: task.claimedAt };
    this.#emit({
      kind: 'SecondTookOver',
      ...{ ...ended, ...first, next: { attemptNo, fence, workerId: second.workerId, claimedAt } },
      notes: JSON.stringify({ ...kept, second: undefined, speculative: attemptNo }),
      ...(kept.speculative === task.attemptNo ? { speculative: true as const } : {}),
    });
  }

  /** A map expands, unfolds further, or is removed. */
  #map({ runId, phase, maps = [] }: ModelRun): void {
    if (phase !== 'open') return;
    const at = this.#tick();
    const known = maps.filter(({ isRemoved }) => !isRemoved);
    const chance = this.#random();
    if (known.length === 0 || chance < 0.4) {
      const last = maps.at(-1);
      const firstNo = last === undefined ? 3 : last.firstNo + Math.max(1, last.total * 2);
      const scope = last === undefined || this.#random() < 0.5 ? null : last.firstNo;
      const total = Math.floor(this.#random() * 5);
      return this.#emit({ kind: 'MapExpanded', runId, group: maps.length % 3, scope, firstNo, total, at });
    }
    const { firstNo, unfolded, total } = this.#one(known);
    if (unfolded < total && chance < 0.8) {
      return this.#emit({ kind: 'MapUnfolded', runId, firstNo, until: unfolded + 1, at });
    }
    this.#emit({ kind: 'MapRemoved', runId, firstNo, actor: ACTOR, at });
  }

  /** Tasks are added, some of them again, or dropped. */
  #added({ runId, taskNo, fence, at }: Pick<TasksAdded, 'runId' | 'taskNo' | 'fence' | 'at'>): void {
    const known = this.model.run(runId).added ?? [];
    const last = known.at(-1);
    if (last !== undefined && this.#random() < 0.3) {
      return this.#emit({ kind: 'TasksDropped', runId, taskNo, fence, tasks: [{ ...last, isDropped: true }], at });
    }
    const first = last === undefined || this.#random() < 0.7 ? known.length : 0;
    const tasks = Array.from({ length: 1 + Math.floor(this.#random() * 3) }, (_, i) => ({
      no: (3 + first + i) as TaskNo,
      by: taskNo,
      fence,
      name: `added-${first + i}`,
      template: i,
      needs: [taskNo],
      before: this.#random() < 0.5 ? [] : [2],
      inputs: this.#random() < 0.5 ? null : `{"it's":"\\u0000 \\\\ \\"€\\"","no":${i}}`,
      isDropped: false,
    }));
    this.#emit({ kind: 'TasksAdded', runId, taskNo, fence, tasks, at });
  }

  #checkpoint({ runId }: ModelRun, { taskNo, fence, checkpoint }: ModelRun['tasks'][number]): void {
    const no = 1 + (checkpoint?.fence === fence ? checkpoint.no : 0);
    const at = this.#tick();
    const chance = this.#random();
    if (chance < 0.2) return this.#emit({ kind: 'ClaimAsserted', runId, taskNo, fence, at });
    if (chance < 0.5) return this.#added({ runId, taskNo, fence, at });
    this.#emit({ kind: 'CheckpointSaved', runId, taskNo, fence, no, value: `{"no":${no},"it's":"\\n€"}`, at });
  }

  #end({ runId }: ModelRun, taskNo: TaskNo, outcome: AttemptOutcome, retryAt: Instant | null): void {
    const { attemptNo, fence, workerId, claimedAt, lostCount } = this.model.task(runId, taskNo);
    const endedAt = this.#tick();
    const done = outcome === 'succeeded';
    const final = done || outcome === 'cancelled' ? outcome : 'failed';
    this.#emit({
      kind: 'AttemptEnded',
      ...{ runId, taskNo, attemptNo, fence, workerId, outcome, claimedAt, endedAt, retryAt },
      taskState: retryAt === null ? final : 'retrying',
      startedAt: this.#random() < 0.7 ? ((claimedAt + 1) as Instant) : null,
      lostCount: lostCount + (outcome === 'lost' ? 1 : 0),
      output: done && this.#random() < 0.5 ? `{"of":${runId},"at":${endedAt}}` : null,
      facts: done && this.#random() < 0.3 ? `{"values":[{"v":"'\\"{${endedAt},}"}]}` : null,
      fingerprint: done || outcome === 'cancelled' ? null : this.#fingerprint(),
      quick: outcome === 'transient' && this.#random() < 0.5 ? { count: attemptNo, since: endedAt } : null,
      error: done ? null : `failed at ${endedAt}: 'x'`,
      code: done || this.#random() < 0.5 ? null : `exit:'${endedAt}\\`,
      ...this.#notes(),
    });
    if (retryAt === null && final === 'failed') this.#writeDeadLetter(runId, taskNo, outcome);
  }

  /** Few enough to meet again, large enough to need all of their bits. */
  #fingerprint(): Fingerprint {
    return (2 ** 48 - 1 - Math.floor(this.#random() * 3)) as Fingerprint;
  }

  #writeDeadLetter(runId: RunId, taskNo: TaskNo, outcome: AttemptOutcome): void {
    const { uid, tenantId, dagId, versionNo } = this.model.run(runId);
    const { attemptNo } = this.model.task(runId, taskNo);
    this.#emit({
      kind: 'DeadLetterWritten',
      ...{ runId, taskNo, attemptNo, uid, tenantId, dagId, versionNo, outcome },
      taskName: `task "${taskNo}"`,
      reason: this.#one(LETTER_REASONS),
      code: this.#random() < 0.5 ? `exit:'${taskNo}'` : null,
      fingerprint: this.#fingerprint(),
      error: this.#random() < 0.8 ? `it's "broken" {x}` : null,
      at: this.#tick(),
    });
  }

  /** One that is open, or was: the second time changes nothing. */
  #closeDeadLetter(): void {
    const deadLetters = [...this.model.deadLetters.values()];
    if (deadLetters.length === 0) return;
    const { runId, taskNo, attemptNo } = this.#one(deadLetters);
    const as = this.#one(['replayed', 'discarded', 'expired'] as const);
    const newUid = as === 'replayed' ? this.model.run(runId).uid : null;
    this.#emit({ kind: 'DeadLetterClosed', runId, taskNo, attemptNo, as, newUid, actor: ACTOR, at: this.#tick() });
  }

  #break({ shard, tenantId, dagId }: DagDeployed): void {
    const at = this.#tick();
    const fingerprint = this.#random() < 0.3 ? null : this.#fingerprint();
    const state = this.#one(['open', 'ramping', 'closed'] as const);
    const error = this.#random() < 0.5 ? 'no answer' : null;
    const set = { shard, tenantId, dagId, fingerprint, state, pauseMs: 5_000, openedAt: at, error };
    this.#emit({ kind: 'BreakerSet', ...set, actor: ACTOR, at });
  }

  #notes(): { notes?: string } {
    return this.#random() < 0.2 ? { notes: `{"memoryBytes":${this.#now},"x":"'\\"}"}` } : {};
  }

  #silence(shard: ShardNo): void {
    const workerId = this.#one(this.#workers);
    this.#emit({ kind: this.#random() < 0.5 ? 'WorkerSilenced' : 'WorkerHeardAgain', shard, workerId });
  }

  #emit(change: Change): void {
    this.model.apply(change);
    this.#changes.push(change);
  }

  #tick(): Instant {
    this.#now += 1 + Math.floor(this.#random() * 50);
    return this.#now as Instant;
  }

  #one<T>(of: readonly T[]): T {
    return of[Math.floor(this.#random() * of.length)] as T;
  }
}
