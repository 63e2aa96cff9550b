/**
 * A history of the engine alone: no host, no network, one owner after the other. Users and workers send random commands, commits stay
 * in flight, owners die, clocks are set. After each commit what is loaded must be what is live (I19), and when all that waits is let go,
 * everything must come to its end (I72). Nothing is lost on wires here, so far more of the commands meet than in a whole cluster.
 */
import type { Command, DagId, RunUid, SendAssignment } from '@signalbox/engine';
import { type Attempt, CallLines, Scenario, type ScriptedWorker } from '@signalbox/engine/testing';
import { backfillsLeft } from '../world/backfill-use.ts';
import { Chance } from '../world/chance.ts';
import { planKeys, usesKeys } from '../world/keys.ts';
import { homesOf, planPools, usesLimits } from '../world/limits.ts';
import { pausesLeft } from '../world/manual.ts';
import { pastsLeft } from '../world/past.ts';
import type { SimulatedWork } from '../world/simulated-work.ts';
import { outputOf } from '../world/user-code.ts';
import { type PlannedDag, planDags, QUEUES } from '../world/workload.ts';
import { drawRequests, drawUse, type OfDag, WHO } from './commands.ts';
import { HoldBack } from './hold-back.ts';

export interface PlayedCommands {
  /** What is wrong, or null. */
  readonly finding: string | null;
  readonly lines: readonly string[];
  readonly stepCount: number;
  readonly simulatedMs: number;
}

interface Begun extends Attempt {
  readonly run: RunUid;
  readonly work: SimulatedWork | undefined;
}

/** Rounds without any change after which nothing will change any more. */
const STANDSTILL = 40;
const MOST_ROUNDS = 400;
/** Tasks that one round brings to their end. */
const PER_ROUND = 200;
/** Dags that are drawn, of which some are used. */
const PLANNED = 5;

export function playCommands(seed: number): PlayedCommands {
  const history = new CommandHistory(seed);
  const { lines } = history;
  try {
    history.play();
    history.bringToEnd();
    return { finding: null, lines, ...history.measures };
  } catch (error) {
    return { finding: error instanceof Error ? error.message : String(error), lines, ...history.measures };
  }
}

/** Of several the ones with a schedule: most of what can meet is about those. */
function planScheduled(chance: Chance): readonly PlannedDag[] {
  const plain = planDags(chance.fork('dags'), PLANNED);
  const drawn = usesKeys(chance) ? planKeys(chance.fork('keys'), plain) : plain;
  const scheduled = drawn.filter(({ versions }) => versions.some(({ schedule }) => schedule !== null));
  return (scheduled.length > 0 ? scheduled : drawn).slice(0, chance.int(1, 3));
}

class CommandHistory {
  readonly lines: string[] = [];
  readonly #chance: Chance;
  readonly #box: Scenario;
  readonly #dags: readonly PlannedDag[];
  readonly #dagIds: Record<string, DagId> = {};
  readonly #calls: CallLines;
  /** Null: nothing holds work back. */
  readonly #holdBack: HoldBack | null;
  readonly #attempts: Begun[] = [];
  #seenEffects = 0;
  #stepCount = 0;

  constructor(seed: number) {
    this.#chance = new Chance(seed);
    const horizonMs = this.#chance.pick([1_000, 4_000, 15_000, 600_000]);
    const causeBreaker = { tasks: 3, withinMs: 60_000, pauseMs: 1_000, maxPauseMs: 4_000 };
    const shards = [7, ...homesOf([WHO.tenantId]).filter((shard) => shard !== 7)];
    this.#box = new Scenario({
      shards,
      workers: { w1: QUEUES, w2: QUEUES },
      settings: { horizonMs, retriesPerSecond: 50, causeBreaker },
    });
    const { node, shard } = this.#box;
    const { onDecided } = node;
    node.onDecided = (result) => {
      onDecided(result);
      for (const change of result.changes) this.#tell('  change', change);
    };
    const planned = planScheduled(this.#chance).map((dag) => ({ ...dag, shard }));
    const isHeldBack = usesLimits(this.#chance);
    this.#dags = isHeldBack ? planPools(this.#chance.fork('pools'), planned) : planned;
    this.#calls = new CallLines(this.#box, this.#dagIds);
    const tell = (what: string, value: unknown) => this.#tell(what, value);
    this.#holdBack = isHeldBack
      ? new HoldBack(this.#box, this.#chance.fork('what holds back'), this.#dags, tell)
      : null;
    for (const dag of this.#dags) this.#deploy(dag, 0);
  }

  get measures() {
    return { stepCount: this.#stepCount, simulatedMs: this.#box.node.passedMs };
  }

  play(): void {
    const steps = this.#chance.int(40, 220);
    while (this.#stepCount < steps) {
      this.#stepCount += 1;
      this.#doSomething(this.#chance.next());
      this.#holdBack?.act();
      this.#holdBack?.check();
      this.#collect();
      if (!this.#box.node.isHolding && this.#chance.happens(0.6)) this.#calls.deliver();
      if (this.#box.node.isHolding && this.#chance.happens(0.4)) this.#box.settle();
    }
    this.#box.settle();
  }

  #doSomething(draw: number): void {
    const chance = this.#chance;
    const dag = chance.pick(this.#dags);
    if (draw < 0.49) return this.#use(dag);
    if (draw < 0.54) return this.#deploy(dag, chance.int(0, dag.versions.length - 1));
    if (draw < 0.7) return void this.#box.tryClaim(chance.pick(this.#workers));
    if (draw < 0.84) return this.#endOne();
    if (draw < 0.95) return void this.#box.advance(`${chance.pick([10, 300, 1_500, 6_000])}ms`, this.#workers);
    if (draw < 0.965) return this.#leap();
    if (draw < 0.985) return this.#killOwner();
    this.#box.hold();
  }

  get #workers(): readonly ScriptedWorker[] {
    return [...this.#box.workers.values()];
  }

  #use(dag: PlannedDag): void {
    const dagId = this.#dagIds[dag.name];
    if (dagId === undefined) return;
    const ofDag: OfDag = { shard: dag.shard, dagId, ...WHO };
    const command = drawUse(this.#box, this.#chance, ofDag);
    if (command !== null) this.#feed(command);
  }

  #deploy(dag: PlannedDag, index: number): void {
    const spec = dag.versions[index] ?? dag.versions[0]!;
    const answer = this.#box.tryDeploy(spec, dag.name, `${dag.name} version ${index}`);
    this.#tell(`deploy of ${dag.name} version ${index}`, answer);
    if (answer.ok && answer.kind === 'deployed') this.#dagIds[dag.name] = answer.dagId;
  }

  #endOne(): void {
    const chance = this.#chance;
    if (this.#attempts.length === 0) return;
    const [attempt] = this.#attempts.splice(chance.int(0, this.#attempts.length - 1), 1) as [Begun];
    for (const request of drawRequests(chance, attempt, attempt.work)) this.#feed(request);
    const outcome = chance.pick(['succeeded', 'succeeded', 'succeeded', 'transient', 'permanent'] as const);
    if (outcome === 'succeeded') this.#succeed(attempt);
    else this.#tell(`report of ${outcome}`, [attempt.claim, this.#box.report(attempt, outcome)]);
  }

  #succeed(attempt: Begun): void {
    const { claim, run, work } = attempt;
    const output = outputOf({ claim, run, work: work === undefined ? '' : JSON.stringify(work) });
    this.#tell('report of succeeded', [claim, this.#box.report(attempt, 'succeeded', { output })]);
  }

  #leap(): void {
    const span = this.#chance.pick(['-2h', '2h', '-40s', '40s'] as const);
    this.#tell('the clock is set', span);
    this.#box.leap(span);
  }

  #killOwner(): void {
    const away = this.#chance.pick(['0s', '2s', '15s'] as const);
    this.#tell('the owner is killed', away);
    this.#box.killOwner(away);
    this.#holdBack?.onTakeover();
    this.#beat();
  }

  #beat(): void {
    for (const worker of this.#workers) this.#box.heartbeat(worker);
  }

  #feed(command: Command): void {
    this.#tell('command', command);
    this.#tell('  answer', this.#box.feed(command));
  }

  #tell(what: string, value: unknown): void {
    this.lines.push(`${what} ${JSON.stringify(value)}`);
  }

  /** What was assigned since the last time. */
  #collect(): void {
    const { effects } = this.#box;
    const assigned = effects.slice(this.#seenEffects).filter((effect) => effect.kind === 'SendAssignment');
    this.#seenEffects = effects.length;
    for (const effect of assigned) this.#attempts.push(this.#begun(effect));
  }

  #begun(effect: SendAssignment): Begun {
    const work: SimulatedWork | undefined = effect.version.task(effect.specNo).work;
    return { ...this.#box.attemptOf(effect), run: effect.runUid, work };
  }

  /** Everything that waits for somebody is let go, and every task succeeds. */
  bringToEnd(): void {
    const { store } = this.#box.node;
    let [still, before] = [0, -1];
    for (let round = 0; round < MOST_ROUNDS && still < STANDSTILL; round++) {
      this.#letGo();
      this.#workOff();
      this.#box.advance(round % 5 === 4 ? '9s' : '1500ms', this.#workers);
      if (this.#left().length === 0) return;
      still = store.journal.length === before ? still + 1 : 0;
      before = store.journal.length;
    }
    throw new Error(`I72: nothing will change any more, and there is left: ${this.#left().join(', ')}`);
  }

  #letGo(): void {
    const { tables } = this.#box.node.store;
    for (const { name, shard } of this.#dags) {
      const dagId = this.#dagIds[name];
      if (dagId !== undefined) this.#box.feed({ kind: 'SetSchedulePaused', shard, dagId, ...WHO, paused: true });
    }
    for (const held of pausesLeft(tables)) this.#box.feed({ kind: 'SetPaused', ...WHO, ...held, paused: false });
    for (const command of [...backfillsLeft(tables), ...pastsLeft(tables, WHO)]) this.#box.feed(command);
    this.#holdBack?.letGo();
    this.#beat();
  }

  #workOff(): void {
    for (let i = 0; i < PER_ROUND; i++) {
      this.#collect();
      for (const attempt of this.#attempts.splice(0)) this.#succeed(attempt);
      this.#calls.deliver();
      this.#holdBack?.deliver();
      if (this.#box.tryClaim() === null) return;
    }
  }

  #left(): readonly string[] {
    const { tables } = this.#box.node.store;
    const runs = [...tables.runs.values()].filter(({ phase, setAside }) => phase !== 'ended' && !setAside);
    const backfills = tables.described.all('backfills').filter(({ state }) => state === 'running');
    return [
      ...runs.map(({ runId, phase, admitted, notes }) => `run ${runId} (${phase}, ${admitted}, ${notes})`),
      ...backfills.map(({ uid }) => `backfill ${uid}`),
      ...(this.#holdBack?.left() ?? []),
    ];
  }
}
