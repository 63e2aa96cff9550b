/** Brings an event to the triggers of all dags of its tenant. */
import { createHash } from 'node:crypto';
import { type EventTrigger, type NoteEvent, patternsOf, whyUnmatched } from '@signalbox/engine';
import {
  type CloudEvent,
  type ErrorCode,
  eventValue,
  fillEventTemplate,
  jsonFault,
  MAX_PARAMS_BYTES,
  SignalboxError,
  type Signalled,
} from '@signalbox/protocol';
import type { TriggeredDag } from '@signalbox/store';
import type { FastifyRequest } from 'fastify';
import { answerOf, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { holdEvent } from './hold-event.ts';
import type { RestParts } from './rest-parts.ts';
import { submitTo } from './submit.ts';

/** Of one event. Beyond, its answer would be of no use to anyone. */
const MOST_TRIGGERED = 1_000;

/** What makes an event the same as another. */
type EventIdentity =
  /** Source and id: whatever else differs, it is the same event. */
  | { readonly by: 'event' /** For triggers of this dag alone. */; readonly onlyDag?: string }
  /** The idempotency key of the request; null for none. Another body with this key is a conflict. */
  | { readonly by: 'key'; readonly key: string | null };

/** What one dag refuses, and another may take. */
const REFUSED: readonly ErrorCode[] = ['PARAMS_INVALID', 'RUN_KEY_TAKEN'];

interface Outcome {
  readonly runs: Signalled['runs'];
  readonly refused: NonNullable<Signalled['refused']>;
  readonly unmatched: NonNullable<Signalled['unmatched']>;
}

export async function takeEvent(
  request: FastifyRequest,
  parts: RestParts,
  event: CloudEvent,
  identity: EventIdentity,
): Promise<Signalled> {
  const { tenantId } = callerOf(request);
  const types = patternsOf(event.type);
  const dags = await fromDatabase(() => parts.queries.dagsOnEvent(tenantId, types), request.log);
  const outcome: Outcome = { runs: [], refused: [], unmatched: [] };
  const only = identity.by === 'event' ? identity.onlyDag : undefined;
  const asked = only === undefined ? dags : dags.filter(({ name }) => name === only);
  let isExpected = false;
  const taken = asked.slice(0, MOST_TRIGGERED).flatMap((dag) =>
    dag.triggers.map(async (trigger) => {
      const reason = whyUnmatched(trigger, event);
      if (trigger.isExpectation === true) {
        if (reason !== null) return;
        await noteEvent(request, parts, dag, trigger.name);
        isExpected = true;
      } else if (reason === null) await fireTrigger(request, parts, { dag, trigger, event, identity }, outcome);
      else outcome.unmatched.push({ dag: dag.name, trigger: trigger.name, reason });
    }),
  );
  await Promise.all(taken);
  const { runs, refused, unmatched } = outcome;
  return {
    matched: runs.length > 0 || refused.length > 0 || isExpected,
    runs: runs.sort(byDag),
    ...(refused.length === 0 ? {} : { refused: refused.sort(byDag) }),
    ...(unmatched.length === 0 ? {} : { unmatched: unmatched.sort(byDag) }),
  };
}

/** An event that a dag expects has come. It starts nothing by that. */
async function noteEvent(request: FastifyRequest, parts: RestParts, dag: TriggeredDag, name: string): Promise<void> {
  const { shard, dagId } = dag;
  const { tenantId } = callerOf(request);
  const command: NoteEvent = { kind: 'NoteEvent', shard, dagId, tenantId, name };
  const routed = await parts.main.command(command, parts.leftMs(request));
  // One that the dag does not expect any more needs no note.
  if (routed.status === 'answered' && !routed.answer.ok && routed.answer.code === 'DAG_NOT_FOUND') return;
  answerOf(routed, 'done', { dag: dag.name });
}

interface Fired {
  readonly dag: TriggeredDag;
  readonly trigger: EventTrigger;
  readonly event: CloudEvent;
  readonly identity: EventIdentity;
}

/** One key for each trigger: an event that is sent again finds the run that it has started (I11). */
async function fireTrigger(request: FastifyRequest, parts: RestParts, fired: Fired, outcome: Outcome): Promise<void> {
  const { dag, trigger, event } = fired;
  const { name, ...place } = dag;
  try {
    const params = paramsOf(trigger, event);
    if (trigger.batch !== undefined || trigger.debounce !== undefined) {
      const id = await holdEvent(request, parts, { dag, trigger, event, params, key: keyFor(fired) });
      outcome.runs.push({ dag: name, id, held: true });
      return;
    }
    const { uid } = await submitTo(request, parts, { name, place, params, cause: 'event', ...keyFor(fired) });
    outcome.runs.push({ dag: name, id: uid });
  } catch (error) {
    // What one dag does not take is no reason to keep it from the others.
    if (!(error instanceof SignalboxError) || !REFUSED.includes(error.code)) throw error;
    const { problems = [{ path: 'concurrency', message: error.message }] } = error.body();
    outcome.refused.push({ dag: name, problems: [...problems] });
  }
}

/** JSON text. Without a mapping it is the data; null where the event has none. */
function paramsOf({ params }: EventTrigger, event: CloudEvent): string | null {
  const value = params === undefined ? event.data : fillEventTemplate(params, event);
  if (value === undefined || value === null) return null;
  const fault = jsonFault(value, { bytes: MAX_PARAMS_BYTES });
  if (fault !== null) throw new SignalboxError('PARAMS_INVALID', { problems: [{ path: 'params', message: fault }] });
  return JSON.stringify(value);
}

/** Two events with one identity are one event, whatever their bodies: then the hash is that of the identity (I11). */
function keyFor({ trigger, event, identity }: Fired): { readonly key: string | null; readonly bodyHash?: string } {
  const own = trigger.dedupe === undefined ? '' : eventValue(trigger.dedupe, event);
  if (own === '' && identity.by === 'key')
    return { key: identity.key === null ? null : `event:${trigger.name}:${identity.key}` };
  const unique = own === '' ? ['event', event.source, event.id] : ['value', own];
  const hash = createHash('sha256').update(JSON.stringify(unique)).digest('hex');
  return { key: `event:${trigger.name}:${hash}`, bodyHash: hash };
}

const byDag = (a: { readonly dag: string }, b: { readonly dag: string }): number => (a.dag < b.dag ? -1 : 1);
