/**
 * Which run or schedule is charged when a decision throws (D3, I57). A batch that threw is tried again command by command,
 * on freshly loaded memory. A command that throws alone, and a second time, is charged to its run or schedule. Strikes are
 * stored, and the second one sets a run aside. A schedule is paused at once, because it would throw again with every tick.
 */
import type { Command, RunId, State } from '@signalbox/engine';
import type { Log } from '../ports.ts';
import type { Envelope } from './inbox.ts';

type StruckSchedule = Pick<NonNullable<State['currentSchedule']>, 'shard' | 'id'>;
type Strike = Extract<Command, { kind: 'StrikeRun' | 'StrikeSchedule' }>;

export class Charges {
  /** Runs that no load may touch, until they are set aside. */
  readonly quarantined = new Set<RunId>();
  private readonly log: Log;
  /** Commands of a batch that threw: tried again one by one. */
  private suspects: Envelope[] = [];
  /** The last decision threw, and none has been settled since. */
  private hasThrown = false;
  private strikes: Strike[] = [];

  constructor(log: Log) {
    this.log = log;
  }

  get isOpen(): boolean {
    return this.strikes.length > 0 || this.suspects.length > 0;
  }

  /** Charges a run with an error. A run that will be set aside is not loaded again. */
  strikeRun(runId: RunId, reason: string, setAside: boolean): void {
    if (setAside) this.quarantined.add(runId);
    this.strikes.push({ kind: 'StrikeRun', runId, reason, setAside });
  }

  strikeSchedule({ shard, id: scheduleId }: StruckSchedule, reason: string): void {
    this.strikes.push({ kind: 'StrikeSchedule', shard, scheduleId, reason });
  }

  /**
   * What must be decided before all others; null if there is nothing. All strikes go together: what runs that a load went round have
   * running counts under no limit, and nothing else may begin before they are set aside (I44). Suspects are decided alone.
   */
  next(): Envelope[] | null {
    if (this.strikes.length > 0) return this.strikes.splice(0).map((command) => ({ command, reply: null }));
    const suspect = this.suspects.shift();
    if (suspect === undefined) return null;
    return suspect.isVoid?.() === true ? [] : [suspect];
  }

  /** A decision on these threw. */
  charge(state: State, envelopes: readonly Envelope[], error: unknown): void {
    const reason = describe(error);
    const isAlone = envelopes.length <= 1;
    // Memory that another node has overtaken may contradict what was read since: the first time only says to load anew.
    const isProven = isAlone && this.hasThrown;
    this.hasThrown = true;
    const { currentRun, currentSchedule } = state;
    const schedule = currentSchedule === null ? null : `${currentSchedule.dagId}/${currentSchedule.name}`;
    const level = isProven ? 'error' : 'warn';
    this.log(level, 'A decision threw.', { error: reason, currentRun, schedule });
    if (!isProven) {
      this.suspects.unshift(...envelopes);
      return;
    }
    const [alone] = envelopes;
    if (currentRun === null && currentSchedule !== null) {
      this.strikeSchedule(currentSchedule, reason);
      // It was the tick that came along with it: the command itself may be all right.
      this.suspects.unshift(...envelopes);
      return;
    }
    // A strike that throws: the run can't even be looked at.
    const setAside = alone?.command.kind === 'StrikeRun';
    if (currentRun !== null) this.strikeRun(currentRun, reason, setAside);
    alone?.reply?.({ status: 'unknown', reason });
  }

  /** A commit is settled: memory can be trusted. */
  settled(): void {
    this.hasThrown = false;
  }

  /** Set aside by now, or another node's to deal with: a load of ours need not go round it any more. */
  done(batch: readonly Envelope[]): void {
    for (const { command } of batch) if (command.kind === 'StrikeRun') this.quarantined.delete(command.runId);
  }

  undone(batch: readonly Envelope[]): void {
    for (const { command } of batch) if (isStrike(command)) this.strikes.push(command);
  }

  /** They were taken and not decided. */
  giveBack(envelopes: readonly Envelope[]): void {
    for (const { command } of envelopes) if (isStrike(command)) this.strikes.unshift(command);
  }
}

function isStrike(command: Command): command is Strike {
  return command.kind === 'StrikeRun' || command.kind === 'StrikeSchedule';
}

export function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
