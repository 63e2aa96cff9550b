/**
 * Those who use the cluster: they deploy, submit (one run or several, with a key or without, the same key again), cancel,
 * pause and resume, retire dags and bring them back, have tasks retried. They reach any node; a node that dies leaves them without an answer, and with a key they ask again.
 */
import {
  type Actor,
  type Command,
  type DagId,
  type RunId,
  type RunUid,
  type ShardNo,
  shardOfRun,
  shardOfUid,
  type TaskNo,
  type TenantId,
} from '@signalbox/engine';
import type { Routed } from '@signalbox/host';
import { planAssetByHand } from './assets.ts';
import { backfillsLeft, planBackfillUse } from './backfill-use.ts';
import { planCrossing } from './budgets.ts';
import type { Chance } from './chance.ts';
import { dagOfDelayed, planDelayedUse } from './delayed-use.ts';
import { planComing } from './expect.ts';
import { FreezeUse } from './freeze-use.ts';
import { haltsLeft, mayHalt } from './halts.ts';
import { planShapes, type RecurringJob, SimJobs } from './jobs.ts';
import { limitsLeft, planLimit, usesLimits } from './limits.ts';
import { pausesLeft, planHand } from './manual.ts';
import type { SimNode } from './node.ts';
import { mayBeHeldByPast, pastsLeft } from './past.ts';
import { planQuota, quotasLeft, usesQuotas } from './quotas.ts';
import { ReservationUse } from './reservation-use.ts';
import { planScheduleUse } from './schedule-use.ts';
import { SimSenders } from './senders.ts';
import { SimSubmissions } from './submissions.ts';
import { TenantUse } from './tenant-use.ts';
import type { PlannedDag } from './workload.ts';
import type { World } from './world.ts';

const TENANT = 1 as TenantId;
const ACTOR = 'token:sim' as Actor;

/** Of how many of the newest runs a task is retried. */
const RETRIED_OF = 40;
/** The longest deadline, and how long whoever asked waits beyond it. */
const LONGEST_ASK_MS = 15_000;
/** So many other requests for each event. */
const EVENTS_APART = 4;
/** So many other requests for each job. */
const JOBS_APART = 3;
/** How many histories have users of delayed runs, and of jobs. */
const DELAYED_SHARE = 0.5;
const JOBS_SHARE = 0.4;
/** And for each asset that is declared fresh by hand. */
const LIMITS_APART = 8;
/** Few, so that one and the same budget is crossed again after a handover. */
const BUDGET_SHARDS = [1, 7] as ShardNo[];
const ASSETS_APART = 20;
const RESUMED_AFTER_MS = 6_000;

export class SimClients {
  readonly #world: World;
  readonly #chance: Chance;
  readonly #dags: readonly PlannedDag[];
  /** The dags of jobs. */
  readonly #shapes: readonly PlannedDag[];
  readonly #usesDelays: boolean;
  readonly #dagIds = new Map<string, DagId>();
  readonly #submissions: SimSubmissions;
  readonly #tenants: TenantUse;
  readonly #freezes: FreezeUse;
  readonly #reservations: ReservationUse;
  #askCount = 0;
  /** Asked and neither answered nor given up. */
  openCount = 0;
  isStopped = false;

  constructor(world: World, dags: readonly PlannedDag[]) {
    this.#world = world;
    this.#chance = world.chance.fork('clients');
    this.#dags = dags;
    this.#usesDelays = this.#chance.fork('delayed runs').happens(DELAYED_SHARE);
    const jobs = this.#chance.fork('shapes of jobs');
    this.#shapes = jobs.happens(JOBS_SHARE) ? planShapes(jobs, world.tenants.ids) : [];
    const all = [...dags, ...this.#shapes];
    this.#submissions = new SimSubmissions({
      world,
      chance: this.#chance,
      usesDelays: this.#usesDelays,
      dagIdOf: ({ name }) => this.#dagIds.get(name),
      anyNode: () => this.#anyNode(),
      ask: (node, command, done) => this.#ask(node, command, done),
      in: (ms, run) => this.#in(ms, run),
    });
    this.#freezes = new FreezeUse(world, dags);
    this.#reservations = new ReservationUse(world, dags, ({ name }) => this.#dagIds.get(name));
    this.#tenants = new TenantUse(world, (dagId) => all.find(({ name }) => this.#dagIds.get(name) === dagId));
  }

  /** Deploys everything, then keeps things coming, until told to stop. */
  start(meanMs: number): void {
    for (const dag of this.#dags) this.#in(this.#chance.between(0, 2_000), () => this.#deploy(dag, 0));
    const next = () => {
      if (this.isStopped) return;
      this.#doSomething();
      this.#in(this.#chance.wait(meanMs), next);
    };
    this.#in(2_500, next);
    const senders = this.#senders();
    const chance = this.#chance.fork('senders');
    const send = () => {
      if (this.isStopped) return;
      senders.sendSomething();
      this.#in(chance.wait(meanMs * EVENTS_APART), send);
    };
    this.#in(2_500, send);
    if (this.#shapes.length > 0) this.#startJobs(meanMs * JOBS_APART);
    this.#tenants.start(() => this.isStopped);
    this.#freezes.start(() => this.isStopped);
    this.#reservations.start(() => this.isStopped);
    if (usesLimits(this.#world.chance)) this.#startLimits(meanMs * LIMITS_APART);
    if (usesQuotas(this.#world.chance)) this.#startQuotas(meanMs * LIMITS_APART);
    this.#startBudgets(meanMs * LIMITS_APART);
    this.#startResuming();
    const hands = this.#chance.fork('assets by hand');
    const produce = () => {
      const node = this.#anyNode();
      if (this.isStopped) return;
      if (node !== null) this.#ask(node, planAssetByHand(hands, TENANT, ACTOR), () => undefined);
      this.#in(hands.wait(meanMs * ASSETS_APART), produce);
    };
    this.#in(2_500, produce);
    const coming = this.#chance.fork('expected events');
    const come = () => {
      if (this.isStopped) return;
      this.#sendExpected(coming);
      this.#in(coming.wait(meanMs * EVENTS_APART), come);
    };
    this.#in(2_500, come);
  }

  #startQuotas(meanMs: number): void {
    const chance = this.#chance.fork('quotas');
    const set = () => {
      const node = this.#anyNode();
      if (this.isStopped) return;
      const { tenants } = this.#world;
      if (node !== null) this.#ask(node, planQuota(chance, tenants.ids, node.process.wall(), ACTOR), () => undefined);
      this.#in(chance.wait(meanMs), set);
    };
    this.#in(1_500, set);
  }

  /** Somebody sees what is halted, and lets it go on. */
  #startResuming(): void {
    const chance = this.#chance.fork('halted dags');
    const look = () => {
      if (this.isStopped) return;
      this.#resumeHalted();
      this.#in(chance.wait(RESUMED_AFTER_MS), look);
    };
    this.#in(RESUMED_AFTER_MS, look);
  }

  #resumeHalted(): void {
    const node = this.#anyNode();
    if (node === null) return;
    for (const command of haltsLeft(this.#world.database.tables, ACTOR)) this.#ask(node, command, () => undefined);
  }

  /** What they hold back could not come to its end. */
  #removeQuotas(): void {
    const node = this.#anyNode();
    if (node === null || !usesQuotas(this.#world.chance)) return;
    for (const command of quotasLeft(this.#world.database.tables, ACTOR)) this.#ask(node, command, () => undefined);
  }

  #startLimits(meanMs: number): void {
    const chance = this.#chance.fork('limits');
    const set = () => {
      const node = this.#anyNode();
      if (this.isStopped) return;
      if (node !== null) this.#ask(node, planLimit(chance, this.#world.tenants.ids, ACTOR), () => undefined);
      this.#in(chance.wait(meanMs), set);
    };
    this.#in(1_500, set);
    this.#in(4_000, () => this.#setPools());
  }

  #startBudgets(meanMs: number): void {
    const chance = this.#chance.fork('budgets');
    const cross = () => {
      const node = this.#anyNode();
      if (this.isStopped) return;
      if (node !== null) this.#ask(node, planCrossing(chance, this.#world.tenants.ids, BUDGET_SHARDS), () => undefined);
      this.#in(chance.wait(meanMs), cross);
    };
    this.#in(1_800, cross);
  }

  #setPools(): void {
    const node = this.#anyNode();
    if (node === null || !usesLimits(this.#world.chance)) return;
    const { database, tenants } = this.#world;
    for (const command of limitsLeft(database.tables, tenants.ids, ACTOR)) this.#ask(node, command, () => undefined);
  }

  #startJobs(meanMs: number): void {
    const chance = this.#chance.fork('jobs');
    const jobs = new SimJobs({
      chance,
      shapes: this.#shapes,
      isDeployed: ({ name }) => this.#dagIds.has(name),
      deploy: (shape) => this.#deploy(shape, 0),
      submit: (shape) => this.#submissions.submit(shape, chance),
      recur: (shape, job) => this.#recur(shape, job),
    });
    const next = () => {
      if (this.isStopped) return;
      jobs.useSomething();
      this.#in(chance.wait(meanMs), next);
    };
    this.#in(2_500, next);
  }

  #recur(shape: PlannedDag, job: RecurringJob): void {
    const dagId = this.#dagIds.get(shape.name);
    const node = this.#anyNode();
    if (dagId === undefined || node === null) return;
    const { name } = job;
    const ofDag = { shard: shape.shard, tenantId: TENANT, dagId, actor: ACTOR };
    const command: Command =
      'spec' in job
        ? { kind: 'CreateSchedules', ...ofDag, schedules: [{ name, spec: job.spec }] }
        : job.to === 'deleted'
          ? { kind: 'DeleteSchedule', ...ofDag, name }
          : { kind: 'SetSchedulePaused', ...ofDag, name, paused: job.to === 'paused' };
    this.#ask(node, command, () => undefined);
  }

  #senders(): SimSenders {
    return new SimSenders({
      chance: this.#chance.fork('events'),
      dags: this.#dags,
      tenantId: TENANT,
      actor: ACTOR,
      dagIdOf: ({ name }) => this.#dagIds.get(name),
      anyNode: () => this.#anyNode(),
      ask: (node, command, done) => this.#ask(node, command, done),
      in: (ms, run) => this.#in(ms, run),
    });
  }

  /** Schedules would go on for ever. Deploys what has none instead. */
  stopSchedules(): void {
    this.isStopped = true;
    this.#tenants.resumeAll();
    this.#freezes.thawAll();
    this.#reservations.letAllGo();
    const pauseAll = () => {
      for (const dag of this.#dags) this.#pause(dag, true, 200);
      for (const shape of this.#shapes) if (this.#dagIds.has(shape.name)) this.#pause(shape, true, 200);
    };
    pauseAll();
    this.#resumeAll(60);
    // A deploy that was under way may have brought one back meanwhile.
    this.#in(LONGEST_ASK_MS, pauseAll);
  }

  #doSomething(): void {
    const chance = this.#chance;
    const draw = chance.next();
    const dag = chance.pick(this.#dags);
    const delays = chance.fork('use of delayed runs');
    if (this.#usesDelays && delays.happens(0.05)) return this.#useDelayed(delays);
    const windows = chance.fork('windows');
    if (draw < 0.56 && windows.happens(0.1)) return this.#submissions.submitWindow(windows, dag);
    if (draw < 0.56 && windows.happens(0.05)) return this.#submissions.rerun(windows);
    if (draw < 0.56) return this.#submissions.submit(dag, chance);
    if (draw < 0.68) return this.#cancel();
    if (draw < 0.74) return this.#retry();
    if (draw < 0.77) return this.#useDeadLetter();
    if (draw < 0.83) return this.#touch();
    if (draw < 0.89) return this.#deploy(dag, chance.int(0, dag.versions.length - 1));
    if (draw < 0.91) return this.#retire(dag);
    if (draw < 0.95) return this.#pause(dag, chance.happens(0.5), 0);
    return draw < 0.975 ? this.#useSchedule(dag) : this.#useBackfill(dag);
  }

  #sendExpected(chance: Chance): void {
    const { name, shard, tenantId } = chance.pick(this.#dags);
    const dagId = this.#dagIds.get(name);
    const node = this.#anyNode();
    if (dagId !== undefined && node !== null)
      this.#ask(node, planComing(chance, { shard, tenantId, dagId }), () => undefined);
  }

  #useDelayed(chance: Chance): void {
    const { shard, name } = chance.pick([...this.#dags, ...this.#shapes]);
    const dagId = this.#dagIds.get(name);
    const node = this.#anyNode();
    if (dagId === undefined || node === null) return;
    const ofDag = { shard, tenantId: TENANT, dagId, actor: ACTOR };
    const command = planDelayedUse(chance, this.#world.database.tables, ofDag);
    if (command !== null) this.#ask(node, command, () => undefined);
  }

  #useBackfill(dag: PlannedDag): void {
    const dagId = this.#dagIds.get(dag.name);
    const node = this.#anyNode();
    if (dagId === undefined || node === null) return;
    const ofDag = { shard: dag.shard, tenantId: TENANT, dagId, actor: ACTOR };
    const command = planBackfillUse(this.#chance, this.#world.database.tables, ofDag, node.process.wall());
    if (command !== null) this.#ask(node, command, () => undefined);
  }

  #cancel(): void {
    const { uids } = this.#submissions;
    if (uids.length === 0) return;
    const uid = uids[uids.length - 1 - Math.min(this.#chance.int(0, 5), uids.length - 1)]!;
    const { tables } = this.#world.database;
    const runId = this.#someChild() ?? tables.runUids.get(uid);
    const node = this.#anyNode();
    if (node === null) return;
    if (runId === undefined) return this.#cancelDelayed(node, uid);
    const how = this.#chance.fork('cancel');
    const force = how.happens(0.15) ? ({ force: true } as const) : {};
    const grace = how.happens(0.25) ? { graceMs: how.pick([0, 500, 4_000, 15_000]) } : {};
    this.#ask(node, { kind: 'CancelRun', tenantId: TENANT, runId, actor: ACTOR, ...force, ...grace }, () => undefined);
  }

  /** It may begin before the command comes: then that is refused. */
  #cancelDelayed(node: SimNode, uid: RunUid): void {
    const dagId = dagOfDelayed(this.#world.database.tables, uid);
    if (dagId === undefined) return;
    const ofDag = { shard: shardOfUid(uid), tenantId: TENANT, dagId, actor: ACTOR };
    this.#ask(node, { kind: 'DeleteSchedule', ...ofDag, name: uid }, () => undefined);
  }

  /** Now and then, where there are any: a live run that another has called. */
  #someChild(): RunId | undefined {
    const { runs } = this.#world.database.tables;
    const recent = [...runs.values()].slice(-RETRIED_OF);
    const live = recent.filter(({ parent, phase }) => parent !== undefined && phase === 'open');
    return live.length > 0 && this.#chance.happens(0.4) ? this.#chance.pick(live).runId : undefined;
  }

  /** A task that failed or waits, of a run that goes on or has ended; now and then any other. */
  #retry(): void {
    const { runs, tasks } = this.#world.database.tables;
    const recent = [...runs.values()].slice(-RETRIED_OF);
    const candidates = recent.flatMap(({ runId, outcome }) =>
      [...(tasks.get(runId)?.values() ?? [])].flatMap(({ taskNo, state }) =>
        outcome !== 'cancelled' && (state === 'failed' || state === 'retrying') ? [{ runId, taskNo }] : [],
      ),
    );
    const node = this.#anyNode();
    if (recent.length === 0 || node === null) return;
    const waiting = candidates.filter(({ runId, taskNo }) => tasks.get(runId)?.get(taskNo)?.state === 'retrying');
    const isAny = candidates.length === 0 || this.#chance.happens(0.15);
    const target = isAny
      ? { runId: this.#chance.pick(recent).runId, taskNo: this.#chance.int(0, 3) as TaskNo }
      : this.#chance.pick(waiting.length > 0 ? waiting : candidates);
    this.#ask(node, { kind: 'RetryTask', tenantId: TENANT, ...target, actor: ACTOR }, () => undefined);
  }

  #touch(): void {
    const node = this.#anyNode();
    const command = planHand(this.#chance, this.#world.database.tables, { tenantId: TENANT, actor: ACTOR });
    if (node !== null && command !== null) this.#ask(node, command, () => undefined);
  }

  /** What somebody holds would never end. Again and again: a hand may be under way. */
  #resumeAll(triesLeft: number): void {
    const node = this.#anyNode();
    for (const held of node === null ? [] : pausesLeft(this.#world.database.tables)) {
      this.#ask(node!, { kind: 'SetPaused', tenantId: TENANT, ...held, paused: false, actor: ACTOR }, () => undefined);
    }
    for (const resume of node === null ? [] : backfillsLeft(this.#world.database.tables)) {
      this.#ask(node!, resume, () => undefined);
    }
    this.#setPools();
    this.#removeQuotas();
    this.#resumeHalted();
    const who = { tenantId: TENANT, actor: ACTOR };
    for (const cancel of node === null ? [] : pastsLeft(this.#world.database.tables, who)) {
      this.#ask(node!, cancel, () => undefined);
    }
    // Those that wait for the past are let go one window after the other.
    const mayWait = mayBeHeldByPast(this.#world.database.tables);
    // A dag that is resumed may be halted again by what its maps make next.
    const mayBeHalted = mayHalt(this.#world.settings) || haltsLeft(this.#world.database.tables, ACTOR).length > 0;
    if (triesLeft > 0 || mayWait || mayBeHalted) this.#in(2_000, () => this.#resumeAll(triesLeft - 1));
  }

  /** Replays a dead letter in its run or as a new one, or throws it away; now and then one that was used before. */
  #useDeadLetter(): void {
    const deadLetters = [...this.#world.database.tables.deadLetters.values()].slice(-RETRIED_OF);
    const node = this.#anyNode();
    if (deadLetters.length === 0 || node === null) return;
    const open = deadLetters.filter(({ state }) => state === 'open');
    const { runId, taskNo, attemptNo } = this.#chance.pick(
      open.length > 0 && this.#chance.happens(0.8) ? open : deadLetters,
    );
    const deadLetter = { runId, taskNo, attemptNo };
    const latest = this.#chance.fork('latest');
    if (latest.happens(0.3)) return this.#submissions.submitAgain(latest, node, runId, deadLetter);
    if (this.#chance.happens(0.2)) {
      const shard = shardOfRun(runId);
      const close = {
        kind: 'CloseDeadLetters',
        shard,
        tenantId: TENANT,
        deadLetters: [deadLetter],
        as: 'discarded',
        actor: ACTOR,
      } as const;
      return this.#ask(node, close, () => undefined);
    }
    this.#ask(node, { kind: 'ReplayDeadLetter', tenantId: TENANT, deadLetter, actor: ACTOR }, () => undefined);
  }

  #retire(dag: PlannedDag): void {
    const dagId = this.#dagIds.get(dag.name);
    const node = this.#anyNode();
    if (dagId === undefined || node === null) return;
    const { shard } = dag;
    this.#ask(node, { kind: 'RetireDag', shard, tenantId: TENANT, dagId, actor: ACTOR }, () => undefined);
    // Nobody could do anything with it any more: it comes back, as it was or as something else.
    const index = this.#chance.int(0, dag.versions.length - 1);
    this.#in(this.#chance.between(200, 8_000), () => {
      if (!this.isStopped) this.#deploy(dag, index);
    });
  }

  #deploy(dag: PlannedDag, index: number): void {
    const spec = dag.versions[index] ?? dag.versions[0]!;
    const node = this.#anyNode();
    const again = () => {
      if (!this.#dagIds.has(dag.name)) this.#in(500, () => this.#deploy(dag, index));
    };
    if (node === null) return again();
    const [{ shard, name }, hash] = [dag, `${dag.name} version ${index}`];
    const command: Command = {
      kind: 'DeployDag',
      shard,
      tenantId: dag.tenantId,
      tenant: dag.tenantId === TENANT ? 'default' : `tenant-${dag.tenantId}`,
      name,
      spec,
      hash,
      actor: ACTOR,
    };
    this.#ask(node, command, (result) => {
      const isDone = result?.status === 'answered' && result.answer.ok && result.answer.kind === 'deployed';
      if (isDone && result.answer.kind === 'deployed') this.#dagIds.set(name, result.answer.dagId);
      else again();
    });
  }

  /** Creates, edits, pauses, resumes or deletes a schedule without a deploy; now and then one of the definition. */
  #useSchedule(dag: PlannedDag): void {
    const dagId = this.#dagIds.get(dag.name);
    const node = this.#anyNode();
    if (dagId === undefined || node === null) return;
    const ofDag = { shard: dag.shard, tenantId: TENANT, dagId, actor: ACTOR };
    const command = planScheduleUse(this.#chance, ofDag, node.process.wall());
    this.#ask(node, command, () => undefined);
  }

  #pause(dag: PlannedDag, paused: boolean, triesLeft: number): void {
    const dagId = this.#dagIds.get(dag.name);
    const node = this.#anyNode();
    const again = () => {
      if (triesLeft > 0) this.#in(500, () => this.#pause(dag, paused, triesLeft - 1));
    };
    if (dagId === undefined || node === null) return again();
    const { shard } = dag;
    this.#ask(node, { kind: 'SetSchedulePaused', shard, tenantId: TENANT, dagId, paused, actor: ACTOR }, (result) => {
      if (result?.status !== 'answered') again();
    });
  }

  /** Null when the node dies before it answers. */
  #ask(node: SimNode, wish: Command, done: (result: Routed | null) => void): void {
    const { events, history, network } = this.#world;
    const command = this.#tenants.ofOwner(wish);
    this.#askCount += 1;
    const deadlineMs = this.#chance.pick([2_000, 5_000, 10_000]);
    const no = this.#askCount;
    const { process, host } = node;
    let isOver = false;
    const finish = (result: Routed | null) => {
      if (isOver) return;
      isOver = true;
      this.openCount -= 1;
      done(result);
    };
    this.openCount += 1;
    events.in(network.delayMs(), () =>
      process.deliver(() => {
        const ask = { no, client: 'client', node: node.machine, command, deadlineMs, at: events.now() };
        history.add({ kind: 'asked', ask });
        void host?.ask(command, deadlineMs).then((result) => {
          if (!process.isAlive) return;
          history.add({ kind: 'told', ask, result });
          events.in(network.delayMs(), () => finish(result));
        });
      }),
    );
    // Whoever hears nothing for long enough gives up, and can't know.
    this.#in(deadlineMs + this.#chance.between(1_000, 4_000), () => finish(null));
  }

  #anyNode(): SimNode | null {
    const up = this.#world.nodes.filter((node) => node.isUp && node.host !== null);
    return up.length === 0 ? null : this.#chance.pick(up);
  }

  #in(ms: number, run: () => void): void {
    this.#world.events.in(ms, run);
  }
}
