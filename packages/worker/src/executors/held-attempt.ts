/**
 * One attempt in a child process.
 *
 * `ahead` (sent, and not begun while others run) → `begun` → `ending` (it has a result; what it printed is on its way) → `over`.
 * From `ahead` to `over` at once when it is taken back.
 */
import type { Result } from '../result.ts';
import { ChildRequests } from './child-requests.ts';
import type { Job, JobListener } from './port.ts';

export interface HeldListener extends JobListener {
  /** It has not begun, and never will in this child. */
  takenBack(): void;
}

export class HeldAttempt {
  readonly no: number;
  readonly job: Job;
  readonly listener: HeldListener;
  /** Nothing else is in the child while it is. */
  readonly isAlone: boolean;
  state: 'ahead' | 'begun' | 'ending' | 'over' = 'ahead';
  begunAt = 0;
  /** When the child could read that it is not to begin this one; null if nobody wants it back. */
  askedBackAt: number | null = null;
  isAskedBack = false;
  /** The child has read that this one is to stop. */
  hasHeardStop = false;
  result: Result | null = null;
  #requests: ChildRequests | null = null;

  constructor(no: number, job: Job, listener: HeldListener, isAlone: boolean) {
    this.no = no;
    this.job = job;
    this.listener = listener;
    this.isAlone = isAlone;
  }

  begin(now: number): void {
    this.state = 'begun';
    this.begunAt = now;
    this.listener.began();
  }

  requests(answer: ConstructorParameters<typeof ChildRequests>[1]): ChildRequests {
    this.#requests ??= new ChildRequests(this.job.context.requester, answer);
    return this.#requests;
  }
}
