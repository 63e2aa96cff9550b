/**
 * Delivers a command to the owner of its shard, on this node or another, until it is answered or times out. A command that
 * may already have been executed is sent again marked as such, so it is never executed twice (I11, I12).
 */
import {
  type Answer,
  type Command,
  type NodeId,
  quotaHome,
  type ShardNo,
  shardOfCommand,
  type TakeQuota,
} from '@signalbox/engine';
import type { Directory } from './directory.ts';
import type { Peers } from './peer/peers.ts';
import type { Clock } from './ports.ts';
import type { Turns } from './turn/turns.ts';

export type Routed =
  | { readonly status: 'answered'; readonly answer: Answer }
  /** Certainly not done. */
  | { readonly status: 'overloaded' }
  /** No owner was found in time; certainly not done. */
  | { readonly status: 'unavailable' }
  /** Time was up before it was known. */
  | { readonly status: 'unknown' };

interface Journey {
  command: Command;
  readonly shard: ShardNo;
  readonly giveUpAt: number;
  readonly done: (result: Routed) => void;
  /** An earlier try may have been done. */
  isUnsure: boolean;
  /** It is with an owner, who has not answered yet. */
  isOut: boolean;
}

const RETRY_MS = 50;
/** How often those whose time is up are looked for: one timer for all, since most are answered in a moment. */
const SWEEP_MS = 200;

/** What people do to tasks. */
const ONCE_ONLY: ReadonlySet<Command['kind']> = new Set(['RetryTask', 'ReplayDeadLetter', 'ClearTasks', 'MarkTasks']);

/** Under which quota a request is counted, and how much it is. Null: it was counted. */
function quotaOf(command: Command): TakeQuota | null {
  if (command.kind !== 'SubmitRuns' && command.kind !== 'HoldEvent' && command.kind !== 'DeployDag') return null;
  if (command.isCounted === true) return null;
  const { tenantId } = command;
  const quota = command.kind === 'DeployDag' ? 'deploys' : 'submits';
  const count = command.kind === 'SubmitRuns' ? command.items.length : 1;
  return { kind: 'TakeQuota', shard: quotaHome(tenantId), tenantId, quota, count };
}

export class Router {
  private readonly self: NodeId;
  private readonly turns: Turns;
  private readonly peers: () => Peers;
  private readonly directory: Directory;
  private readonly clock: Clock;
  private readonly open = new Set<Journey>();
  private isSweeping = false;

  constructor(self: NodeId, parts: { turns: Turns; peers: () => Peers; directory: Directory; clock: Clock }) {
    this.self = self;
    this.turns = parts.turns;
    this.peers = parts.peers;
    this.directory = parts.directory;
    this.clock = parts.clock;
  }

  ask(command: Command, deadlineMs: number): Promise<Routed> {
    return new Promise((resolve) => this.send(command, deadlineMs, resolve));
  }

  send(command: Command, deadlineMs: number, done: (result: Routed) => void): void {
    const shard = shardOfCommand(command);
    if (shard === null) throw new Error(`${command.kind} has no owner to be sent to`);
    const giveUpAt = this.clock.mono() + deadlineMs;
    const journey: Journey = { command, shard, giveUpAt, done, isUnsure: false, isOut: false };
    this.open.add(journey);
    if (!this.isSweeping) this.sweepLater();
    this.go(journey);
  }

  private go(journey: Journey): void {
    if (this.turns.owns(journey.shard)) return this.decideHere(journey);
    const owner = this.directory.ownerOf(journey.shard);
    if (owner === null || owner.nodeId === this.self) return this.tryAgainLater(journey);
    journey.isOut = true;
    this.peers().forward(owner.nodeId, owner.epoch, journey.command, (result) => {
      journey.isOut = false;
      if (result.status === 'answered') this.arrive(journey, result.answer);
      else if (result.status === 'unknown') this.unsure(journey);
      else if (result.reason === 'overloaded') this.refuse(journey);
      else this.tryAgainLater(journey);
    });
  }

  private decideHere(journey: Journey): void {
    journey.isOut = true;
    const isTaken = this.turns.inbox.offer({
      command: journey.command,
      // Whoever asked was told that it may or may not have been done, and may have asked for something else since.
      isVoid: () => !this.open.has(journey),
      reply: (outcome) => {
        journey.isOut = false;
        if (outcome.status === 'answered') this.arrive(journey, outcome.answer);
        else this.unsure(journey);
      },
    });
    if (!isTaken) this.refuse(journey);
  }

  private arrive(journey: Journey, answer: Answer): void {
    if (!answer.ok && answer.code === 'NOT_OWNER') return this.tryAgainLater(journey);
    const taking = answer.ok || answer.code !== 'QUOTA_NEEDED' ? null : quotaOf(journey.command);
    if (taking === null) this.finish(journey, { status: 'answered', answer });
    else this.takeQuota(journey, taking);
  }

  /** What is asked for was not done. It is counted at the home of its tenant first, and asked for again (I50). */
  private takeQuota(journey: Journey, taking: TakeQuota): void {
    const leftMs = Math.max(0, journey.giveUpAt - this.clock.mono());
    this.send(taking, leftMs, (taken) => {
      if (taken.status !== 'answered') {
        // Only whether it was counted is not known.
        return this.finish(journey, taken.status === 'unknown' ? { status: 'unavailable' } : taken);
      }
      if (!taken.answer.ok) return this.finish(journey, taken);
      journey.command = { ...journey.command, isCounted: true } as Command;
      if (this.open.has(journey)) this.go(journey);
    });
  }

  private refuse(journey: Journey): void {
    this.finish(journey, { status: journey.isUnsure ? 'unknown' : 'overloaded' });
  }

  private unsure(journey: Journey): void {
    journey.isUnsure = true;
    // Done twice it would be two, and the second might be refused for the first: whoever asked must look (I12).
    if (ONCE_ONLY.has(journey.command.kind)) return this.finish(journey, { status: 'unknown' });
    if (journey.command.kind === 'SubmitRuns') journey.command = { ...journey.command, mayRepeat: true };
    this.tryAgainLater(journey);
  }

  /** Its time may have been up before: what comes then is of no interest. */
  private finish(journey: Journey, result: Routed): void {
    if (this.open.delete(journey)) journey.done(result);
  }

  private giveUp(journey: Journey): void {
    this.finish(journey, { status: journey.isUnsure || journey.isOut ? 'unknown' : 'unavailable' });
  }

  /** An owner that is slow, or a link that is dead without a word, keeps nobody waiting beyond the deadline (I60). */
  private sweepLater(): void {
    this.isSweeping = this.open.size > 0;
    if (!this.isSweeping) return;
    this.clock.after(SWEEP_MS, () => {
      const mono = this.clock.mono();
      for (const journey of this.open) if (mono >= journey.giveUpAt) this.giveUp(journey);
      this.sweepLater();
    });
  }

  /** When the directory changes, or after a while. */
  private tryAgainLater(journey: Journey): void {
    if (!this.open.has(journey)) return;
    if (this.clock.mono() >= journey.giveUpAt) return this.giveUp(journey);
    let isGone = false;
    const go = () => {
      if (isGone) return;
      isGone = true;
      cancel();
      forget();
      if (this.open.has(journey)) this.go(journey);
    };
    const cancel = this.clock.after(RETRY_MS, go);
    const forget = this.directory.onChange(go);
  }
}
