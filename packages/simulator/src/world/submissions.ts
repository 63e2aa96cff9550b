/** Users that submit runs: one or several, now or later, with a key or without, the same key again; for a window; a run once more. */
import {
  type Actor,
  type ChosenWindow,
  type DagId,
  type DeadLetterRef,
  makeRunUid,
  type Priority,
  type RunId,
  type RunUid,
  readRunNotes,
  type SubmitRuns,
  shardOfRun,
  type TenantId,
} from '@signalbox/engine';
import type { Routed } from '@signalbox/host';
import type { Chance } from './chance.ts';
import { itemsAt, type PlannedTime, planTimes } from './delayed-use.ts';
import { withKeys } from './keys.ts';
import type { SimNode } from './node.ts';
import { WORLD_BEGAN_AT } from './process.ts';
import { planWindow } from './window-use.ts';
import { type PlannedDag, planPriority } from './workload.ts';
import type { World } from './world.ts';

const TENANT = 1 as TenantId;
const ACTOR = 'token:sim' as Actor;
/** Of how many of the newest runs one is made once more. */
const RETRIED_OF = 40;

export interface SubmissionParts {
  readonly world: World;
  readonly chance: Chance;
  /** Whether some of the runs are for later. */
  readonly usesDelays: boolean;
  dagIdOf(dag: PlannedDag): DagId | undefined;
  anyNode(): SimNode | null;
  ask(node: SimNode, command: SubmitRuns, done: (result: Routed | null) => void): void;
  /** Later. */
  in(ms: number, run: () => void): void;
}

interface Submission {
  readonly dag: PlannedDag;
  readonly key: string | null;
  readonly body: Body;
}

interface Body {
  readonly items: SubmitRuns['items'];
  /** Null unless some of the items are delayed. */
  readonly times: readonly PlannedTime[] | null;
  readonly hash: string;
}

/** A task or a group of some version: another one may not have it, and then it is refused. */
function planGoal(chance: Chance, { versions }: PlannedDag): string {
  const { tasks, groups = [] } = chance.pick(versions);
  return chance.pick([...tasks, ...groups]).name;
}

export class SimSubmissions {
  readonly #parts: SubmissionParts;
  readonly #submissions: Submission[] = [];
  #keyCount = 0;
  /** Of runs that were asked for, the newest last. */
  readonly uids: RunUid[] = [];

  constructor(parts: SubmissionParts) {
    this.#parts = parts;
  }

  /** Sent again up to three times, where nobody knows what became of it. */
  submit(dag: PlannedDag, tries: Chance): void {
    this.#send(this.#planSubmission(dag), tries.int(0, 3));
  }

  #planSubmission(dag: PlannedDag): Submission {
    const chance = this.#parts.chance;
    const earlier = this.#submissions.filter((one) => one.dag === dag);
    if (earlier.length > 0 && chance.happens(0.25)) {
      const again = chance.pick(earlier);
      // The same key again, mostly with the same body.
      return chance.happens(0.85) ? again : { ...again, body: this.#planBody(dag) };
    }
    const key = chance.happens(0.5) ? `key${this.#keyCount++}` : null;
    const submission = { dag, key, body: this.#planBody(dag) };
    if (key !== null) this.#submissions.push(submission);
    return submission;
  }

  #planBody(dag: PlannedDag): Body {
    const chance = this.#parts.chance;
    const count = chance.happens(0.8) ? 1 : chance.int(2, 4);
    const drawn = Array.from({ length: count }, () => ({
      params: chance.happens(0.5) ? JSON.stringify({ n: chance.int(0, 999), items: ['a', 'b'] }) : null,
      priority: chance.happens(0.3) ? planPriority(chance) : (null as Priority | null),
    }));
    const goals = chance.fork('until');
    const items = withKeys(chance.fork('run keys'), drawn).map((item) => ({
      ...item,
      ...(goals.happens(0.15) && { until: planGoal(goals, dag) }),
    }));
    const delays = chance.fork('times');
    const isDelayed = this.#parts.usesDelays && delays.happens(0.3);
    const times = isDelayed ? planTimes(delays, items.length, WORLD_BEGAN_AT + this.#parts.world.now) : null;
    return { items, times, hash: JSON.stringify(times === null ? items : { items, times }) };
  }

  #send(submission: Submission, triesLeft: number): void {
    const { dag, key, body } = submission;
    const dagId = this.#parts.dagIdOf(dag);
    if (dagId === undefined) return;
    const node = this.#parts.anyNode();
    if (node === null) return;
    const chance = this.#parts.chance;
    const [a, b] = [Math.floor(chance.next() * 2 ** 48), Math.floor(chance.next() * 2 ** 26)];
    const uid = makeRunUid(dag.shard, node.process.wall(), a, b);
    const { items, times, hash: bodyHash } = body;
    const isDelayed = times?.some((time) => time !== null) === true;
    const command: SubmitRuns = {
      kind: 'SubmitRuns',
      shard: dag.shard,
      tenantId: TENANT,
      dagId,
      uid,
      items: times === null ? items : itemsAt(items, times, node.process.wall()),
      // A delayed run always has a key: where the user gives none, the edge does.
      key: key !== null ? { key, bodyHash } : isDelayed ? { key: `run ${uid}`, bodyHash: '' } : null,
      mayRepeat: false,
      ...(chance.happens(0.2) && { cause: 'event' as const }),
      actor: ACTOR,
    };
    this.uids.push(uid);
    this.#parts.ask(node, command, (result) => {
      const isSure = result !== null && result.status !== 'unknown';
      if (!isSure && key !== null && triesLeft > 0) this.#parts.in(300, () => this.#send(submission, triesLeft - 1));
    });
  }

  /** The window is its own key: a request without an answer is sent again. */
  submitWindow(chance: Chance, dag: PlannedDag, triesLeft = 2, again?: ChosenWindow): void {
    const dagId = this.#parts.dagIdOf(dag);
    const node = this.#parts.anyNode();
    if (dagId === undefined || node === null) return;
    const now = node.process.wall();
    const window = again ?? planWindow(chance, this.#parts.world.database.tables, dagId, now);
    if (window === null) return;
    const [a, b] = [Math.floor(chance.next() * 2 ** 48), Math.floor(chance.next() * 2 ** 26)];
    const { shard } = dag;
    const command: SubmitRuns = {
      ...{ kind: 'SubmitRuns', shard, tenantId: TENANT, dagId, uid: makeRunUid(shard, now, a, b), actor: ACTOR },
      ...{ items: [{ params: null, priority: null }], window, key: null, mayRepeat: false },
    };
    this.#parts.ask(node, command, (result) => {
      const isSure = result !== null && result.status !== 'unknown';
      if (!isSure && triesLeft > 0) this.#parts.in(300, () => this.submitWindow(chance, dag, triesLeft - 1, window));
    });
  }

  rerun(chance: Chance): void {
    const recent = [...this.#parts.world.database.tables.runs.values()].slice(-RETRIED_OF);
    const node = this.#parts.anyNode();
    if (recent.length > 0 && node !== null) this.submitAgain(chance, node, chance.pick(recent).runId);
  }

  /** A run as it was, by its own version; or by the newest, for a dead letter of it, which is used once. */
  submitAgain(chance: Chance, node: SimNode, runId: RunId, replays?: DeadLetterRef): void {
    const run = this.#parts.world.database.tables.runs.get(runId);
    if (run === undefined) return;
    const [a, b] = [Math.floor(chance.next() * 2 ** 48), Math.floor(chance.next() * 2 ** 26)];
    const shard = shardOfRun(runId);
    const { dagId, versionNo, priority, notes } = run;
    const { until } = readRunNotes(notes);
    const uid = makeRunUid(shard, node.process.wall(), a, b);
    const command: SubmitRuns = {
      ...{ kind: 'SubmitRuns', shard, tenantId: TENANT, dagId, uid, actor: ACTOR, key: null, mayRepeat: false },
      ...(replays === undefined
        ? { versionNo, items: [{ params: null, priority, ...(until === undefined ? {} : { until }) }] }
        : { replays, items: [{ params: null, priority: null }] }),
    };
    this.uids.push(uid);
    this.#parts.ask(node, command, () => undefined);
  }
}
