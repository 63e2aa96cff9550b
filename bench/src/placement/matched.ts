/** The same load through the engine and the lending of a gateway, with a clock that jumps from event to event. */
import {
  type Actor,
  adoptShards,
  type ClaimRef,
  type Command,
  type DagId,
  type DagSpec,
  DEFAULT_SETTINGS,
  demandOf,
  type Instant,
  isEmpty,
  type MonoMs,
  makeRunUid,
  type NodeId,
  noTables,
  type QueueName,
  type RunId,
  type ShardNo,
  State,
  step,
  type TenantId,
  type WorkerId,
} from '@signalbox/engine';
import { claimKey, Lending, Session } from '@signalbox/host';
import type { Ask, Trace } from './trace.ts';

const START = Date.UTC(2026, 0, 1) as Instant;
const [self, actor] = ['bench' as NodeId, 'bench' as Actor];
const [shard, tenantId, queue] = [7 as ShardNo, 1 as TenantId, 'default' as QueueName];
/** Nobody sends heartbeats here. */
const NEVER_MS = 1e12;
const TICK_MS = 1_000;

interface Running {
  readonly endsAt: number;
  readonly claim: ClaimRef;
  readonly session: Session;
}

class Fleet {
  private readonly trace: Trace;
  private readonly state: State;
  private readonly lending: Lending;
  private readonly sessions: readonly Session[];
  private readonly dags = new Map<Ask, DagId>();
  private readonly taskOfRun = new Map<RunId, number>();
  private inbox: Command[] = [];
  private running: Running[] = [];
  private now = 0;
  private batchNo = 0;
  private created = 0;
  private hasDemand = false;
  readonly starts: number[];

  constructor(trace: Trace, reserveAfterMs: number) {
    this.trace = trace;
    this.starts = trace.tasks.map(() => Number.NaN);
    const settings = { leaseMs: NEVER_MS, undeliveredMs: NEVER_MS, reserveAfterMs, zoneData: () => ({}) as never };
    this.state = new State({ ...DEFAULT_SETTINGS, ...settings });
    const own = { shard, epoch: 1 as never, commitNo: 0, lastRunId: 0 as never, lastDagNo: 0 };
    const none = { schedules: [], runs: [], dags: [], versions: [], admitted: [], partial: [], tables: noTables() };
    const loaded = { shards: [{ ...own, missedAgoMs: null, silentWorkers: [] }], ...none };
    adoptShards(this.state, loaded, { wall: START, mono: 0 });
    this.lending = new Lending({
      self,
      isServing: () => true,
      clock: { wall: () => this.wall, mono: () => this.now as MonoMs, after: () => () => undefined },
      lendHere: (session, { count, room, only }, forTenant) => {
        const whom = { tenants: [forTenant ?? tenantId], queues: [queue], standing: forTenant === null };
        const isWhole = session.isIdle && session.isLentOnlyTo(self);
        this.inbox.push({
          ...{ kind: 'LendSlots', gateway: self, workerId: session.workerId, ...whom, count, agoMs: 0 },
          ...{ traits: session.traits!, isWhole, ...(isEmpty(room) ? {} : { room }) },
          ...(only === undefined ? {} : { only }),
        });
      },
      recallHere: ({ workerId }, count) =>
        this.inbox.push({ kind: 'RecallSlots', gateway: self, workerId, count, withRoom: true }),
      lendThere: () => false,
    });
    this.sessions = Array.from({ length: trace.workers }, (_, no) => {
      const hello = { workerId: `w${no}` as WorkerId, tenantId, tenants: [tenantId], name: `w${no}`, queues: [queue] };
      const { slots, cpu, memory } = trace;
      const traits = { slots, resources: { cpu, memory }, labels: {} };
      return new Session({ ...hello, slots, traits, draining: false }, [], {} as never, 0);
    });
    for (const session of this.sessions) this.lending.offer(session);
    this.work();
  }

  private get wall(): Instant {
    return (START + this.now) as Instant;
  }

  run(): void {
    const { tasks } = this.trace;
    for (let come = 0; come < tasks.length || this.running.length > 0; ) {
      const ends = this.running.reduce((least, { endsAt }) => Math.min(least, endsAt), Number.POSITIVE_INFINITY);
      const next = Math.min(tasks[come]?.at ?? Number.POSITIVE_INFINITY, ends);
      this.now = Math.min(next, this.now + TICK_MS);
      if (this.now < next) this.inbox.push({ kind: 'Tick' });
      while (come < tasks.length && tasks[come]!.at <= this.now) {
        this.submit(tasks[come]!.ask, come);
        come += 1;
      }
      this.endDue();
      this.work();
    }
  }

  private endDue(): void {
    const due = this.running.filter(({ endsAt }) => endsAt <= this.now);
    if (due.length === 0) return;
    this.running = this.running.filter(({ endsAt }) => endsAt > this.now);
    for (const { claim, session } of due) {
      session.release(claimKey(claim));
      const end = { outcome: 'succeeded', output: null, error: null, startedAt: null } as const;
      this.inbox.push({ kind: 'ReportAttempt', claim, workerId: session.workerId, ...end });
      this.lending.offer(session);
    }
  }

  private submit(ask: Ask, no: number): void {
    const uid = makeRunUid(shard, this.wall, no, no);
    const items = [{ params: null, priority: null }];
    const what = { tenantId, dagId: this.dagOf(ask), uid, items, key: null, mayRepeat: false, actor };
    this.inbox.push({ kind: 'SubmitRuns', shard, ...what });
  }

  /** One dag for each kind of task. */
  private dagOf(ask: Ask): DagId {
    const known = this.dags.get(ask);
    if (known !== undefined) return known;
    const retry = { maxAttempts: 1, minMs: 0, baseMs: 0, factor: 1, maxMs: 0, maxLost: 3 };
    const placement = { resources: { cpu: ask.cpu, memory: ask.memory } };
    const task = { name: 'job', handler: 'job', queue, needs: [], retry, timeoutMs: null, placement };
    const limits = { priority: 'normal', maxActiveRuns: null, maxActiveTasks: null, schedule: null } as const;
    const spec: DagSpec = { tasks: [task], ...limits };
    const named = { tenantId, tenant: 'bench', name: ask.name, hash: ask.name };
    this.inbox.push({ kind: 'DeployDag', shard, spec, actor, ...named });
    this.work();
    const dag = [...this.state.dags.byId.values()].find(({ name }) => name === ask.name)!;
    this.dags.set(ask, dag.id);
    return dag.id;
  }

  /** Until nothing is left to decide at this instant. No step comes near to being full. */
  private work(): void {
    do {
      const commands = this.inbox;
      this.inbox = [];
      const input = { now: this.wall, mono: this.now as MonoMs, seed: 1, settledBatchNo: this.batchNo, seen: null };
      const result = step(this.state, commands, input);
      this.batchNo = result.batchNo;
      for (const change of result.changes)
        if (change.kind === 'RunCreated') this.taskOfRun.set(change.runId, this.created++);
      for (const effect of result.effects) this.follow(effect);
      if (this.inbox.length === 0) this.tellDemand();
    } while (this.inbox.length > 0);
  }

  private follow(effect: ReturnType<typeof step>['effects'][number]): void {
    if (effect.kind !== 'SendAssignment' && effect.kind !== 'ReturnSlots') return;
    const session = this.sessions.find(({ workerId }) => workerId === effect.workerId)!;
    if (effect.kind === 'ReturnSlots') {
      session.endLoan(self, effect.count, effect.room);
      return this.lending.offer(session);
    }
    const { claim, booking } = effect;
    session.endLoan(self, booking?.slots ?? 1, booking?.resources);
    session.hold(claim, booking ?? undefined);
    const no = this.taskOfRun.get(claim.runId)!;
    this.starts[no] = this.now;
    this.running.push({ endsAt: this.now + this.trace.tasks[no]!.ms, claim, session });
  }

  /** As a server without others does: only while a worker is to be reserved. */
  private tellDemand(): void {
    const isNeeded = !this.state.longWaits.isEmpty;
    if (!isNeeded && !this.hasDemand) return;
    this.hasDemand = isNeeded;
    this.lending.demand(self, isNeeded ? demandOf(this.state) : [], this.sessions);
  }
}

/** When each task of the trace starts. */
export function matchedStarts(trace: Trace, reserveAfterMs: number): number[] {
  const fleet = new Fleet(trace, reserveAfterMs);
  fleet.run();
  return fleet.starts;
}
