/** Events for triggers that batch or debounce: the owner of the dag holds them, and makes one run of several. */
import { randomUUID } from 'node:crypto';
import { type EventTrigger, type HoldEvent, makeRunUid } from '@signalbox/engine';
import { type CloudEvent, eventValue } from '@signalbox/protocol';
import type { TriggeredDag } from '@signalbox/store';
import type { FastifyRequest } from 'fastify';
import { randomBits, systemClock } from '../ports/clock.ts';
import { answerOf } from './errors.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';
import { sendChecked } from './submit.ts';

interface Held {
  readonly dag: TriggeredDag;
  readonly trigger: EventTrigger;
  readonly event: CloudEvent;
  /** JSON text of one event. */
  readonly params: string | null;
  readonly key: { readonly key: string | null; readonly bodyHash?: string };
}

/** Keys are texts of people, and stored: longer ones are cut, and may then meet. */
const KEY_CHARS = 500;

/** Returns the id of the run that the event will be in. */
export async function holdEvent(request: FastifyRequest, parts: RestParts, held: Held): Promise<string> {
  const { dag, trigger, event } = held;
  const { name, shard, dagId } = dag;
  const { tenantId, actor, credential } = callerOf(request);
  const rule = ruleOf(trigger);
  const own = trigger.batch?.key ?? trigger.debounce?.key;
  const groupKey = own === undefined ? '' : eventValue(own, event).slice(0, KEY_CHARS);
  // A batch has a list of events as its params, and that is what the schema is for.
  const params = rule.of === 'batch' ? `{"events":[${held.params ?? 'null'}]}` : held.params;
  const key = { key: held.key.key ?? `event:${trigger.name}:${randomUUID()}`, bodyHash: held.key.bodyHash ?? '' };
  const wanted = { name, place: { shard, dagId }, items: [{ params, priority: null }] };
  const routed = await sendChecked(request, parts, wanted, (at, { items: [item], checkedFor }) => {
    const uid = makeRunUid(at.shard, systemClock.wall(), randomBits(48), randomBits(26));
    const command: HoldEvent = {
      kind: 'HoldEvent',
      shard: at.shard,
      dagId: at.dagId,
      tenantId,
      trigger: trigger.name,
      groupKey,
      uid,
      params: item?.params ?? null,
      rule,
      key,
      ...(checkedFor === undefined ? {} : { checkedFor }),
      actor,
    };
    return parts.main.command(command, parts.leftMs(request), credential);
  });
  return answerOf(routed, 'held', { dag: name }).uid;
}

function ruleOf({ batch, debounce }: EventTrigger): HoldEvent['rule'] {
  if (debounce !== undefined) return { of: 'debounce', waitMs: debounce.waitMs, atMostMs: debounce.atMostMs };
  return { of: 'batch', max: batch?.max ?? 1, withinMs: batch?.withinMs ?? 0 };
}
