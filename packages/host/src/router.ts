/**
 * Brings a command to the owner of its shard, here or on another node, until it is answered or its time is up. What may
 * have been done is sent again as such, so that it is not done twice (I11, I12).
 */
import { type Answer, type Command, type NodeId, type ShardNo, shardOfCommand } from '@signalbox/engine';
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
}

const RETRY_MS = 50;

export class Router {
  private readonly self: NodeId;
  private readonly turns: Turns;
  private readonly peers: () => Peers;
  private readonly directory: Directory;
  private readonly clock: Clock;

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
    this.go({ command, shard, giveUpAt: this.clock.mono() + deadlineMs, done, isUnsure: false });
  }

  private go(journey: Journey): void {
    if (this.turns.owns(journey.shard)) return this.decideHere(journey);
    const owner = this.directory.ownerOf(journey.shard);
    if (owner === null || owner.nodeId === this.self) return this.tryAgainLater(journey);
    this.peers().forward(owner.nodeId, owner.epoch, journey.command, (result) => {
      if (result.status === 'answered') this.arrive(journey, result.answer);
      else if (result.status === 'unknown') this.unsure(journey);
      else if (result.reason === 'overloaded') journey.done({ status: 'overloaded' });
      else this.tryAgainLater(journey);
    });
  }

  private decideHere(journey: Journey): void {
    const isTaken = this.turns.inbox.offer({
      command: journey.command,
      reply: (outcome) => {
        if (outcome.status === 'answered') this.arrive(journey, outcome.answer);
        else this.unsure(journey);
      },
    });
    if (!isTaken) journey.done({ status: journey.isUnsure ? 'unknown' : 'overloaded' });
  }

  private arrive(journey: Journey, answer: Answer): void {
    if (!answer.ok && answer.code === 'NOT_OWNER') this.tryAgainLater(journey);
    else journey.done({ status: 'answered', answer });
  }

  private unsure(journey: Journey): void {
    journey.isUnsure = true;
    if (journey.command.kind === 'SubmitRuns') journey.command = { ...journey.command, mayRepeat: true };
    this.tryAgainLater(journey);
  }

  /** When the directory changes, or after a while. */
  private tryAgainLater(journey: Journey): void {
    if (this.clock.mono() >= journey.giveUpAt) {
      return journey.done({ status: journey.isUnsure ? 'unknown' : 'unavailable' });
    }
    let isGone = false;
    const go = () => {
      if (isGone) return;
      isGone = true;
      cancel();
      forget();
      this.go(journey);
    };
    const cancel = this.clock.after(RETRY_MS, go);
    const forget = this.directory.onChange(go);
  }
}
