/** `signalbox events send`. */
import { randomUUID } from 'node:crypto';
import type { Signalled } from '@signalbox/protocol';
import type { Client } from '@signalbox/sdk';
import { type ClientFlags, connect } from '../connection.ts';
import { print, printJson, short } from '../output.ts';
import { next } from '../program-name.ts';

export interface SendFlags extends ClientFlags {
  readonly payload?: unknown;
  readonly source?: string;
  readonly id?: string;
  readonly subject?: string;
  readonly key?: string;
}

export async function send(type: string, flags: SendFlags): Promise<void> {
  const answer = await sendTo(await connect(flags), type, flags);
  if (flags.json) return printJson(answer);
  for (const { dag, id, held } of answer.runs)
    print(`run ${id} of ${short(dag)}${held === true ? ', which starts later with other events' : ''}`);
  for (const { dag, problems } of answer.refused ?? [])
    print(`${short(dag)} refuses it: ${problems[0]?.path ?? ''} ${problems[0]?.message ?? ''}`);
  for (const { dag, trigger, reason } of answer.unmatched ?? [])
    print(`${short(dag)} does not take it by its trigger ${short(trigger)}: ${reason}`);
  // The lines above say why not, where a dag has a trigger for the type.
  if (!answer.matched && (answer.unmatched ?? []).length === 0)
    print(`no dag takes ${short(type)}: none has a trigger for it, such as "on: { event: ${short(type)} }"`);
  const first = answer.runs.find(({ held }) => held !== true);
  if (first !== undefined) print(`follow one with: ${next(`runs watch ${first.id}`)}`);
}

/** With a source, an id or a subject it is sent as a CloudEvent, which says so itself when it is the same again. */
function sendTo(client: Client, type: string, flags: SendFlags): Promise<Signalled> {
  const { payload, source, id, subject, key } = flags;
  const call = key === undefined ? {} : { idempotencyKey: key };
  if (source === undefined && id === undefined && subject === undefined) return client.signalEvent(type, payload, call);
  const event = {
    specversion: '1.0',
    id: id ?? randomUUID(),
    source: source ?? '/signalbox-cli',
    type,
    ...(subject === undefined ? {} : { subject }),
    ...(payload === undefined ? {} : { data: payload }),
  } as const;
  return client.sendEvent(event, call);
}
