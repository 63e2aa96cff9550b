import { type ExpectSpec, expectTriggers } from '../expect.ts';
import { type EventTrigger, type OnSpec, triggersOf } from './event-trigger.ts';

/** All that takes events for a dag: its triggers, and what it expects. */
export function watchedBy(spec: {
  readonly on?: OnSpec;
  readonly expect?: readonly ExpectSpec[];
}): readonly EventTrigger[] {
  return [...triggersOf(spec), ...expectTriggers(spec)];
}
