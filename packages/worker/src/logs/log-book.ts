/** The logs of the attempts that a worker runs. A log is created with the first line of its attempt. */
import type { Attempt } from '../attempt.ts';
import { AttemptLog } from './attempt-log.ts';
import type { LogShipper, Outgoing } from './log-shipper.ts';

/** How long a report waits for its log, at most, so a reader who sees the end of an attempt also finds its log. */
const FLUSH_MS = 500;

export class LogBook {
  readonly #shipper: LogShipper;
  readonly #wallNow: () => number;
  readonly #outgoing = new WeakMap<AttemptLog, Outgoing>();

  constructor(shipper: LogShipper, wallNow: () => number) {
    this.#shipper = shipper;
    this.#wallNow = wallNow;
  }

  /** Null when the attempt is over: what user code still says belongs to nothing. */
  of(attempt: Attempt): AttemptLog | null {
    if (attempt.log === null && attempt.isActive) {
      const outgoing = this.#shipper.open(attempt.claim, attempt.assignment.token);
      attempt.log = new AttemptLog(outgoing, this.#wallNow);
      attempt.log.mask = attempt.mask;
      this.#outgoing.set(attempt.log, outgoing);
    }
    return attempt.log;
  }

  /** All that the attempt logged is stored, or it takes too long. */
  async end(log: AttemptLog): Promise<void> {
    log.end();
    const outgoing = this.#outgoing.get(log);
    if (outgoing !== undefined) await this.#shipper.flush(outgoing, FLUSH_MS);
  }
}
