/**
 * A run of a dag in a test: no server, no worker, no waiting. The production engine decides; around it are a clock that
 * jumps to the next thing that is due, and one worker with a slot for every task.
 */
import {
  type AddedTask,
  type Answer,
  type ClaimRef,
  type Command,
  type DagSpec,
  growSpec,
  type Instant,
  nextDue,
  type ReportAttempt,
  readTasks,
  type SendAssignment,
} from '@signalbox/engine';
import { type Attempt, Scenario } from '@signalbox/engine/testing';
import {
  checkParams,
  type DagSpecShape,
  EVENT_TASK,
  HOOK_EVENTS,
  readNewTasks,
  SignalboxError,
  toDagSpec,
} from '@signalbox/protocol';
import { zoneData } from '@signalbox/protocol/zones';
import type { AttemptRequester } from '../attempt-requests.ts';
import type { Dag } from '../dag/dag-value.ts';
import { AttemptStopped, errorCode, failureOf, PermanentError } from '../handler.ts';
import { type LogLine, type Settled, settle, timedOut } from './attempt.ts';
import { childStubs } from './child-runs.ts';
import { definitionOf, functionsOf, type Testable } from './definition.ts';
import { handlersOf } from './handlers.ts';
import { instanceName, itemsOf, upstreamOf } from './mapped.ts';
import { gangOf, placeable } from './placeable.ts';
import type { Stub } from './stubs.ts';
import { type RunFacts, type TestAttempt, type TestProgress, TestRun } from './test-result.ts';
import type { TestRunOptions } from './test-run-options.ts';
import { windowOf } from './test-window.ts';

/** In a test no worker is silent and no message is lost. */
const NEVER_MS = 1_000 * 365 * 86_400_000;
const FOR_EVER = Number.POSITIVE_INFINITY;
const FAR_MS = 50 * 365 * 86_400_000;
const MAX_ROUNDS = 100_000;
/** How many tasks of a dag with maps run at a time. */
const MAPPED_SLOTS = 1_000;

/**
 * @example
 * const run = await testRun(coffee, { params: { cups: 2 }, stubs: { grind: () => ({ grams: 3 }) } });
 * expect(run.outcome).toBe('succeeded');
 * expect(run.task('brew').output).toBe('coffee of 3 g');
 */
export async function testRun<Params = unknown>(
  dag: Dag<Params> | Testable,
  options: TestRunOptions<NoInfer<Params>> = {},
): Promise<TestRun> {
  const { name, spec } = toDagSpec(definitionOf(dag));
  const params = paramsFor(name, spec, options.params ?? null);
  const children = childStubs(dag, spec, options, testRun);
  const calls = spec.tasks.filter(({ child }) => child !== undefined).map((task) => task.name);
  const own = Object.entries(options.stubs ?? {}).filter(
    ([stub]) => !calls.some((call) => stub.startsWith(`${call}/`)),
  );
  const handlers = handlersOf(spec, functionsOf(dag), { ...children, ...Object.fromEntries(own) });
  return new World(name, withoutCalls(spec), handlers, { ...options, params }).run();
}

/** Other dags are run by the functions that stand for them. */
function withoutCalls(spec: DagSpecShape): DagSpecShape {
  const alone = ({ child: _, ...task }: DagSpecShape['tasks'][number]) => task;
  const templates = spec.templates === undefined ? {} : { templates: spec.templates.map(alone) };
  return { ...spec, tasks: spec.tasks.map(alone), ...templates };
}

/** Checked, and filled in, as by a server. */
function paramsFor(dag: string, { paramsSchema }: DagSpecShape, params: unknown): unknown {
  if (paramsSchema === undefined) return params;
  const checked = checkParams(paramsSchema, params);
  if (checked.ok) return checked.params;
  throw new SignalboxError('PARAMS_INVALID', { dag, problems: checked.problems });
}

interface Running {
  readonly attempt: Attempt;
  readonly controller: AbortController;
  readonly startedAt: number;
  deadlineAt: number;
  readonly log: LogLine[];
  readonly progress: TestProgress[];
  readonly settling: Promise<Settled>;
  settled: Settled | null;
}

class World {
  readonly #name: string;
  /** With what was added to the run. */
  #spec: DagSpecShape;
  readonly #deployed: DagSpecShape;
  readonly #handlers: ReadonlyMap<string, Stub>;
  readonly #options: TestRunOptions;
  readonly #box: Scenario;
  /** By the number of the task. */
  readonly #outputs = new Map<number, unknown>();
  /** Names of instances that have begun, by their numbers. */
  readonly #instances = new Map<number, string>();
  readonly #checkpoints = new Map<string, string>();
  readonly #ended: TestAttempt[] = [];
  #askCount = 0;
  #running: Running[] = [];
  #startedCount = 0;

  constructor(name: string, spec: DagSpecShape, handlers: ReadonlyMap<string, Stub>, options: TestRunOptions) {
    this.#name = name;
    // Its own schedule would add runs of its own when the clock jumps.
    const { paramsSchema: _checked, ...rest } = spec;
    this.#spec = { ...rest, schedule: null };
    this.#deployed = this.#spec;
    this.#handlers = handlers;
    this.#options = options;
    const queues = [...new Set([...spec.tasks, ...(spec.templates ?? [])].map(({ queue }) => queue))];
    this.#box = new Scenario({
      workers: { worker: queues },
      audit: false,
      seed: options.seed ?? 1,
      settings: { leaseMs: NEVER_MS, undeliveredMs: NEVER_MS, zoneData },
    });
    if (options.now !== undefined) this.#setClock(options.now);
  }

  async run(): Promise<TestRun> {
    const box = this.#box;
    const startedAt = box.node.wall;
    box.dagId = box.deploy(placeable(this.#spec) as Parameters<Scenario['deploy']>[0], this.#name);
    const params = this.#options.params === undefined ? null : JSON.stringify(this.#options.params);
    box.submit({ items: [{ params, priority: null }] });
    for (let round = 0; box.run().phase !== 'ended'; round++) {
      if (round > MAX_ROUNDS) throw new Error(`The run of ${this.#name} has not ended after ${MAX_ROUNDS} rounds.`);
      this.#startWhatIsReady();
      await this.#letSettle();
      if (!this.#endWhatIsDue()) this.#jump();
    }
    this.#endWhatIsDue();
    const { outcome } = box.run();
    return new TestRun({
      outcome: outcome ?? 'failed',
      startedAt: new Date(startedAt),
      endedAt: new Date(box.node.wall),
      ...this.#tasks(),
      attempts: this.#ended,
    });
  }

  #setClock(now: Date | string): void {
    const at = new Date(now).getTime();
    if (Number.isNaN(at)) throw new TypeError(`${String(now)} is no instant; give one such as 2026-01-01T00:00:00Z.`);
    this.#box.node.wall = at as Instant;
  }

  #startWhatIsReady(): void {
    const box = this.#box;
    const worker = box.worker();
    const { groups, templates, tasks } = this.#spec;
    // A speculative attempt begins beside such as are known to run.
    if (tasks.some(({ speculate }) => speculate !== undefined)) box.heartbeat(worker);
    box.lend(worker, groups === undefined && templates === undefined ? tasks.length : MAPPED_SLOTS);
    for (const sent of worker.assigned.slice(this.#startedCount)) {
      this.#startedCount += 1;
      const { claim, runUid, version } = sent;
      const task = instanceName(sent, version.task(sent.specNo).name);
      this.#instances.set(claim.taskNo, task);
      this.#start({ claim, worker, task }, runUid, sent);
    }
  }

  #start(attempt: Attempt, run: string, sent: SendAssignment): void {
    const task = this.#spec.tasks[sent.specNo];
    const isAdded = this.#templateOf(sent.specNo) !== null;
    const stub = attempt.task === task?.name && !isAdded ? undefined : this.#options.stubs?.[attempt.task];
    const handler = stub ?? this.#handlers.get(this.#templateOf(sent.specNo) ?? task?.name ?? '');
    if (task === undefined || handler === undefined) throw new Error(`There is no task ${attempt.task}.`);
    const controller = new AbortController();
    const startedAt = this.#box.node.mono;
    const log: LogLine[] = [];
    const progress: TestProgress[] = [];
    const nameOf = (no: number) => this.#spec.tasks[no]?.name ?? '';
    const params: unknown =
      this.#options.params === undefined ? null : JSON.parse(JSON.stringify(this.#options.params));
    const returned = { spec: this.#spec, params, outputs: this.#outputs };
    const upstream = upstreamOf(sent, returned);
    if (sent.hookEvent !== null) upstream[EVENT_TASK] = this.#eventOf(sent.hookEvent);
    const running: Running = {
      attempt,
      controller,
      startedAt,
      // What the engine ends by itself is ended there, and found in what it recorded.
      deadlineAt: startedAt + Math.min(task.timeoutMs ?? FOR_EVER, task.totalTimeoutMs ?? FOR_EVER),
      log,
      progress,
      settled: null,
      settling: settle(handler, {
        dag: this.#name,
        run,
        task,
        attempt: attempt.claim.attemptNo,
        fence: attempt.claim.fence,
        params,
        upstream,
        failedUpstream: sent.failedUpstream.map(nameOf),
        missingUpstream: sent.missingUpstream.map(nameOf),
        map: itemsOf(sent, returned),
        gang: gangOf(sent),
        secrets: this.#options.secrets ?? {},
        window: windowOf(this.#options.window),
        signal: controller.signal,
        log,
        checkpoint: sent.checkpoint === null ? '' : (this.#checkpoints.get(attempt.task) ?? ''),
        requester: this.#requesterOf(attempt, progress),
      }),
    };
    void running.settling.then((settled) => {
      running.settled ??= settled;
    });
    this.#running.push(running);
  }

  /** The engine decides, as it would in production: an attempt that no longer holds its task is told so. */
  #requesterOf({ claim, worker, task }: Attempt, progress: TestProgress[]): AttemptRequester {
    const workerId = worker.id;
    const ask = (command: Command): void => {
      const answer = this.#box.feed(command);
      if (!answer.ok) throw refusal(answer);
    };
    return {
      progress: (fraction, note) => void progress.push({ fraction, note }),
      extend: async (byMs) => {
        await Promise.resolve(); // It may ask before it is in the list of those that run.
        if (progress.length > 0) this.#box.progress(claim, 0, worker);
        const answer = this.#box.feed({ kind: 'ExtendAttempt', claim, workerId, byMs });
        if (!answer.ok) throw refusal(answer);
        const leftMs = answer.kind === 'extended' ? (answer.leftMs ?? Number.POSITIVE_INFINITY) : 0;
        const running = this.#running.find((one) => one.attempt.claim === claim);
        if (running !== undefined) running.deadlineAt = Math.max(running.deadlineAt, this.#box.node.mono + leftMs);
        return leftMs;
      },
      saveCheckpoint: async (value) => {
        this.#askCount += 1;
        ask({ kind: 'SaveCheckpoint', claim, workerId, no: this.#askCount, value });
        this.#checkpoints.set(task, value);
      },
      assertOwned: async () => ask({ kind: 'AssertOwned', claim, workerId }),
      addTasks: async (text) => {
        const read = readNewTasks(text);
        if (!read.ok) throw new PermanentError(read.fault);
        ask({ kind: 'AddTasks', claim, workerId, tasks: read.tasks });
        this.#spec = growSpec(this.#deployed as DagSpec, this.#added()) as DagSpecShape;
      },
    };
  }

  #added(): readonly AddedTask[] {
    return this.#box.node.store.runsStored().find(({ runId }) => runId === this.#box.lastRun())?.added ?? [];
  }

  /** Null for a task of the dag itself. */
  #templateOf(no: number): string | null {
    const added = this.#added().find((one) => one.no === no);
    return added === undefined ? null : (this.#deployed.templates?.[added.template]?.name ?? null);
  }

  /** What a hook is told, as by a server. */
  #eventOf({ on, taskName: task, outcome, attemptNo, failed }: NonNullable<SendAssignment['hookEvent']>): object {
    const nameOf = (no: number) => this.#spec.tasks[no]?.name ?? '';
    const ended = this.#ended.findLast((one) => one.task === task && one.number === attemptNo);
    const error = ended?.error instanceof Error ? ended.error.message : null;
    const event = HOOK_EVENTS.find((each) => each.on === on)?.suffix ?? on;
    return { event, task, outcome, attempt: attemptNo, error, failed: failed.map(nameOf) };
  }

  /** All that run by now have settled, or have used up the patience: then only their timeout can end them. */
  async #letSettle(): Promise<void> {
    const open = this.#running.filter(({ settled }) => settled === null);
    if (open.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.patienceMs ?? 4_000);
    });
    await Promise.race([Promise.all(open.map(({ settling }) => settling)), patience]);
    clearTimeout(timer);
    for (const running of open) {
      if (running.settled !== null) continue;
      if (running.deadlineAt === Number.POSITIVE_INFINITY) {
        throw new Error(
          `Task ${running.attempt.task} has not settled, and has no timeout that would end it. Give it a stub, or more patienceMs.`,
        );
      }
      running.settled = { ...timedOut(), lastsMs: Number.POSITIVE_INFINITY };
    }
  }

  /** At its deadline the engine may have ended an attempt by itself; then the report below is one of a stale claim. */
  #endWhatIsDue(): boolean {
    const now = this.#box.node.mono;
    const due = this.#running.filter((running) => endOf(running) <= now);
    for (const running of due) this.#end(running);
    return due.length > 0;
  }

  #end(running: Running): void {
    const { attempt, controller, log, progress, deadlineAt, startedAt } = running;
    const isLate = startedAt + (running.settled?.lastsMs ?? 0) > deadlineAt;
    const settled = isLate || running.settled === null ? timedOut() : running.settled;
    if (isLate) controller.abort(new AttemptStopped('timeout', 'The attempt ran longer than its timeout.'));
    this.#running = this.#running.filter((other) => other !== running);
    const { output } = settled;
    this.#box.report(attempt, settled.outcome, {
      output: settled.outcome === 'succeeded' ? JSON.stringify(output) : null,
      error: settled.error instanceof Error ? settled.error.message : null,
      ...saidBy(settled),
    });
    const { outcome, error } = this.#recorded(attempt, settled);
    if (outcome === 'succeeded') this.#outputs.set(attempt.claim.taskNo, output);
    const elapsed = this.#box.node.mono - startedAt;
    const endedAt = new Date(this.#box.node.wall);
    const number = attempt.claim.attemptNo;
    const began = new Date(endedAt.getTime() - elapsed);
    this.#ended.push({ task: attempt.task, number, outcome, error, log, progress, startedAt: began, endedAt });
    this.#stopKilled();
  }

  /** What the engine made of it: a branch may have chosen what is not there, the run may be closed by now. */
  #recorded({ claim }: Attempt, settled: Settled): Pick<Settled, 'outcome' | 'error'> {
    const box = this.#box;
    const isOf = ({ taskNo, fence }: Pick<ClaimRef, 'taskNo' | 'fence'>) =>
      taskNo === claim.taskNo && fence === claim.fence;
    // Another attempt of the task went on, or was quicker: this one counts for nothing.
    const beside = box.changes('SpeculativeEnded').find(isOf) ?? box.changes('SpeculativeTookOver').find(isOf);
    if (beside !== undefined) return { outcome: beside.outcome as Settled['outcome'], error: settled.error };
    const ended = box.changes('AttemptEnded').findLast(isOf);
    if (ended === undefined || ended.outcome === 'lost' || ended.outcome === settled.outcome) return settled;
    const error = ended.error === null ? settled.error : new PermanentError(ended.error);
    return { outcome: ended.outcome, error };
  }

  /** A failure may have closed the run: what runs is told so, as by a worker. */
  #stopKilled(): void {
    for (const { claim, reason } of this.#box.worker().killed.splice(0)) {
      const running = this.#running.find(
        ({ attempt }) => attempt.claim.taskNo === claim.taskNo && attempt.claim.fence === claim.fence,
      );
      if (reason === 'superseded') running?.controller.abort(new AttemptStopped(reason, 'Another was quicker.'));
      if (reason === 'cancelled') running?.controller.abort(new AttemptStopped('cancelled', 'The run was closed.'));
    }
  }

  /** To the next instant at which anything can happen. */
  #jump(): void {
    const { node } = this.#box;
    const due = nextDue(node);
    const waits = this.#running.map((running) => endOf(running) - node.mono);
    if (due.mono !== null) waits.push(due.mono - node.mono);
    const wait = Math.max(0, Math.min(...waits));
    if (!(wait < FAR_MS)) throw new Error(`The run of ${this.#name} has not ended, and nothing is left to happen.`);
    node.advance(wait);
  }

  /** Tasks of the dag in their order, and after those the instances of mapped ones. */
  #tasks(): Pick<RunFacts, 'tasks' | 'states' | 'outputs'> {
    const stored = this.#box.node.store.runsStored().find(({ runId }) => runId === this.#box.lastRun());
    const spec = growSpec(this.#deployed as DagSpec, stored?.added);
    const run = { phase: 'open' as const, outcome: null, isForced: false, facts: null, ...stored };
    const read = readTasks(spec, stored?.tasks ?? [], { ...run, phase: this.#box.run().phase });
    const numbers = [...read.names.from(0)];
    const names = numbers.map((no) => read.names.nameOf(no) ?? '');
    const outputs = new Map<string, unknown>();
    const lists = new Map<string, { readonly at: readonly number[]; readonly output: unknown }[]>();
    numbers.forEach((no, i) => {
      if (this.#outputs.has(no)) outputs.set(names[i] ?? '', this.#outputs.get(no));
      // What the tasks behind it get is a list.
      const base = read.names.specOf(no) ?? no;
      if (base === no || read.names.isMapped(no)) return;
      const name = this.#spec.tasks[base]?.name ?? '';
      const list = lists.get(name) ?? [];
      lists.set(name, list);
      list.push({ at: read.names.placesOf(no).map(({ index }) => index), output: this.#outputs.get(no) ?? null });
    });
    for (const [name, list] of lists) {
      list.sort((a, b) => a.at.reduce((order, index, i) => order || index - (b.at[i] ?? 0), 0));
      outputs.set(
        name,
        list.map(({ output }) => output),
      );
    }
    return { tasks: names, states: new Map(numbers.map((no, i) => [names[i] ?? '', read.stateOf(no)])), outputs };
  }
}

/** On the clock that never jumps back. */
function endOf({ startedAt, deadlineAt, settled }: Running): number {
  return Math.min(deadlineAt, startedAt + (settled?.lastsMs ?? Number.POSITIVE_INFINITY));
}

/** What its error says of itself, as a worker reports it. */
function saidBy({ outcome, error }: Settled): Pick<ReportAttempt, 'code' | 'retryAfterMs' | 'memoryBytes'> {
  if (outcome === 'succeeded') return {};
  const { retryAfterMs = null, memoryBytes = null } = failureOf(error) ?? {};
  return { code: errorCode(error), retryAfterMs, memoryBytes };
}

function refusal({ code, detail }: Extract<Answer, { ok: false }>): Error {
  if (code === 'STALE_TOKEN') return new AttemptStopped('stale', 'This attempt does not hold the task any more.');
  if (code === 'ADD_REFUSED') return new PermanentError(detail);
  return new Error(`The attempt was not extended: ${detail}.`);
}
