/** Whether a trigger takes an event. Total and linear: a condition that cannot be evaluated does not hold, and says why. */
import { evaluate } from '../dag/expression.ts';
import type { Json } from '../task/fact.ts';
import { isTruthy, NOTHING } from '../task/fact.ts';
import { readPaths } from '../task/facts.ts';
import type { EventTrigger } from './event-trigger.ts';

/** The part of an event that triggers look at first. */
interface MatchedEvent {
  readonly type: string;
  readonly source: string;
}

/** Null: the trigger takes the event. Otherwise a sentence for people. */
export function whyUnmatched(trigger: EventTrigger, event: MatchedEvent): string | null {
  if (!fits(trigger.type, event.type)) return `The trigger waits for the type ${trigger.type}.`;
  if (trigger.source !== undefined && !fits(trigger.source, event.source))
    return `The trigger waits for the source ${trigger.source}.`;
  const { where } = trigger;
  if (where === undefined) return null;
  const values = readPaths(event as unknown as Json, where.paths);
  const result = evaluate(where.expression, {
    ofTask: () => NOTHING,
    ofError: () => NOTHING,
    ofParams: (fact) => values[fact] ?? NOTHING,
  });
  if (!result.ok) return `The condition ${where.text} cannot be evaluated: ${result.fault}.`;
  return isTruthy(result.fact) ? null : `The condition ${where.text} does not hold.`;
}

function fits(pattern: string, text: string): boolean {
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}
