/**
 * Commands that wait for a decision. Submissions have their own queue, counted in runs. They are refused when it is full, low
 * priority first (see `shedding.ts`), and decided after everything else, so reports, heartbeats and cancels never wait behind a flood of submissions (I74).
 */
import type { Answer, Command, Priority } from '@signalbox/engine';
import { SHARES } from './shedding.ts';

/** How a command came out. `unknown`: it may have been done (its commit failed, or the node lost the shard). */
export type Outcome =
  | { readonly status: 'answered'; readonly answer: Answer }
  | { readonly status: 'unknown'; readonly reason: string };

export interface Envelope {
  readonly command: Command;
  /** Told once, after the commit of the batch that decided it. */
  readonly reply: ((outcome: Outcome) => void) | null;
  /** The sender has begun anew: this command must not be done any more, it may come again as another. */
  readonly isVoid?: () => boolean;
}

const SHEDDABLE: ReadonlySet<Command['kind']> = new Set<Command['kind']>([
  'SubmitRuns',
  'CreateSchedules',
  'DeployDag',
  'TakeQuota',
]);

export interface InboxLimits {
  /** Runs and schedules that wait to be created, and dags to be deployed: beyond these, new ones are refused. */
  readonly submissions: number;
}

export interface Shedding {
  /** The class of a submission; null: it is refused, whatever waits here. */
  readonly shed: (command: Command) => Priority | null;
}

const ALL_ALIKE: Shedding = { shed: () => 'high' };

/** What one turn takes. */
export interface TurnLimits {
  readonly commands: number;
  /** Runs and schedules of its submissions; at least one submission is taken, however large. */
  readonly runs: number;
}

export class Inbox {
  private waiting: Envelope[] = [];
  private submissions: Envelope[] = [];
  private runs = 0;
  private readonly limits: InboxLimits;
  private readonly onArrival: () => void;
  private readonly shedding: Shedding;

  constructor(limits: InboxLimits, onArrival: () => void, shedding = ALL_ALIKE) {
    this.limits = limits;
    this.onArrival = onArrival;
    this.shedding = shedding;
  }

  get size(): number {
    return this.waiting.length + this.submissions.length;
  }

  /** How much it would be to decide all of it: commands, and the runs of submissions. */
  get weight(): number {
    return this.waiting.length + this.runs;
  }

  /** False when the command is refused for want of room. Reports, heartbeats and cancels are always taken. */
  offer(envelope: Envelope): boolean {
    if (SHEDDABLE.has(envelope.command.kind)) {
      const priority = this.shedding.shed(envelope.command);
      if (priority === null || this.runs >= this.limits.submissions * SHARES[priority]) return false;
      this.submissions.push(envelope);
      this.runs += weightOf(envelope);
    } else this.waiting.push(envelope);
    this.onArrival();
    return true;
  }

  /** The oldest, submissions last. */
  drain({ commands, runs }: TurnLimits): Envelope[] {
    const taken = this.waiting.splice(0, commands);
    let [count, weight] = [0, 0];
    while (count < this.submissions.length && count < commands) {
      const next = weightOf(this.submissions[count]!);
      if (count > 0 && weight + next > runs) break;
      weight += next;
      count += 1;
    }
    this.runs -= weight;
    taken.push(...this.submissions.splice(0, count));
    return taken.filter((envelope) => envelope.isVoid?.() !== true);
  }

  /** Drops what nobody waits for: it was news for an engine that is gone, and the next one asks for itself (I25). */
  forgetTold(): void {
    this.waiting = this.waiting.filter(({ reply }) => reply !== null);
  }

  /** Puts back what was drained and not decided. */
  restore(envelopes: readonly Envelope[]): void {
    const submissions = envelopes.filter(({ command }) => SHEDDABLE.has(command.kind));
    this.waiting = [...envelopes.filter(({ command }) => !SHEDDABLE.has(command.kind)), ...this.waiting];
    this.submissions = [...submissions, ...this.submissions];
    for (const envelope of submissions) this.runs += weightOf(envelope);
  }
}

function weightOf({ command }: Envelope): number {
  if (command.kind === 'CreateSchedules') return command.schedules.length;
  return command.kind === 'SubmitRuns' ? command.items.length : 1;
}
