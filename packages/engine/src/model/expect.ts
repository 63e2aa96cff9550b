/** Events that are expected by a time. One that does not come in time is an event itself. See `decide/expect/`. */
import type { TimetableSpec } from './schedule/schedule-spec.ts';
import type { EventCondition, EventTrigger } from './trigger/event-trigger.ts';

/** Exactly one of `by` and `withinMs`. */
export interface ExpectSpec {
  /** Unique within the dag. */
  readonly name: string;
  readonly type: string;
  readonly source?: string;
  readonly where?: EventCondition;
  /** At each of these times one must have come since the time before. */
  readonly by?: TimetableSpec;
  /** Never longer than this without one. */
  readonly withinMs?: number;
}

/** What takes the events that are expected. */
export function expectTriggers({ expect = [] }: { readonly expect?: readonly ExpectSpec[] }): readonly EventTrigger[] {
  return expect.map(({ name, type, source, where }) => ({
    name,
    type,
    ...(source === undefined ? {} : { source }),
    ...(where === undefined ? {} : { where }),
    isExpectation: true as const,
  }));
}
