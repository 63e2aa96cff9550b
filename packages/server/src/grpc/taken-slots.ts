/**
 * What workers with a token may use: queues, and a total number of slots at this server. Workers share a token, so a limit
 * per worker would be no limit. Each server counts separately, so a fleet that moves to another server is not held up.
 */
import type { WorkerId } from '@signalbox/engine';
import { DEFAULT_TOKEN_SLOTS, MAX_AHEAD, MAX_SLOTS, SignalboxError } from '@signalbox/protocol';
import type { Caller } from '../auth/bearer.ts';

export function slotsLimitOf({ role, work }: Caller): number {
  return work.slots ?? (role === 'worker' ? DEFAULT_TOKEN_SLOTS : MAX_SLOTS);
}

export function refuseQueues({ work }: Caller, queues: readonly string[]): void {
  const { queues: allowed } = work;
  const other = allowed === null ? undefined : queues.find((queue) => !allowed.includes(queue));
  if (allowed === null || other === undefined) return;
  refuse(
    'queues',
    `names the queue "${other}"; this token may take ${allowed.join(', ')}. Start the worker with these, or make a token with --queues`,
  );
}

interface Taken {
  readonly slots: number;
  /** Claims beyond the slots. They yield to slots: a worker that comes does not find them in its way. */
  readonly ahead?: number;
  /** The stream that took them: one that was replaced gives back nothing. */
  readonly by: object;
}

export class TakenSlots {
  readonly #byCredential = new Map<string, Map<WorkerId, Taken>>();

  take(caller: Caller, { workerId, slots, by }: Taken & { readonly workerId: WorkerId }): void {
    const taken = this.#byCredential.get(caller.credential) ?? new Map<WorkerId, Taken>();
    let free = slotsLimitOf(caller);
    for (const [other, { slots: held }] of taken) if (other !== workerId) free -= held;
    if (slots > free) {
      refuse(
        'slots',
        `is ${slots}; workers of this token may have ${slotsLimitOf(caller)} at a server, and ${free} are free. Start it with fewer, or make a token with --slots`,
      );
    }
    taken.set(workerId, { slots, by });
    this.#byCredential.set(caller.credential, taken);
  }

  /** How many claims beyond its slots a worker gets, of those that it asks for: no more than the token has free. */
  takeAhead(caller: Caller, { by, count }: { readonly by: object; readonly count: number }): number {
    const taken = this.#byCredential.get(caller.credential);
    let free = slotsLimitOf(caller);
    for (const { slots, ahead = 0, by: other } of taken?.values() ?? []) free -= other === by ? slots : slots + ahead;
    const ahead = Math.max(0, Math.min(count, free, MAX_AHEAD));
    for (const [workerId, held] of taken ?? []) if (held.by === by) taken?.set(workerId, { ...held, ahead });
    return ahead;
  }

  release({ credential }: Caller, by: object): void {
    const taken = this.#byCredential.get(credential);
    if (taken === undefined) return;
    for (const [workerId, held] of taken) if (held.by === by) taken.delete(workerId);
    if (taken.size === 0) this.#byCredential.delete(credential);
  }
}

function refuse(field: 'queues' | 'slots', message: string): never {
  throw new SignalboxError('BAD_REQUEST', { problems: [{ path: `hello.${field}`, message }] });
}
