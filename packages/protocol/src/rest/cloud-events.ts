/** CloudEvents 1.0: events from outside, in the JSON format (one event or a batch) and over HTTP headers. */
import { z } from 'zod';
import { MAX_BATCH_EVENTS, MAX_PARAMS_BYTES } from '../limits.ts';
import { jsonFault, nameSchema } from './common.ts';
import { signalledSchema } from './events.ts';
import { paramsSchema } from './runs.ts';
import { eventTypeSchema } from './triggers.ts';

export const CLOUD_EVENT = 'application/cloudevents+json';
export const CLOUD_EVENT_BATCH = 'application/cloudevents-batch+json';

const text = z.string().min(1).max(1_000);
/** Extensions: lower-case names, plain values. */
const EXTENSION = /^[a-z0-9]{1,100}$/;
const MOST_EXTENSIONS = 50;

const dataSchema = z.unknown().superRefine((value, context) => {
  const fault = value === undefined ? null : jsonFault(value, { bytes: MAX_PARAMS_BYTES });
  if (fault !== null) context.addIssue({ code: 'custom', message: fault });
});

export const cloudEventSchema = z
  .looseObject({
    specversion: z.literal('1.0', 'must be 1.0: this server knows CloudEvents 1.0'),
    id: text,
    source: text,
    type: eventTypeSchema,
    subject: text.optional(),
    time: z.iso.datetime({ offset: true }).optional(),
    datacontenttype: text.optional(),
    dataschema: text.optional(),
    data: dataSchema.optional(),
    /** For bytes, in place of data. */
    data_base64: z.base64().max(MAX_PARAMS_BYTES).optional(),
  })
  .superRefine((event, context) => {
    const { specversion: _v, id: _i, source: _s, type: _t, subject: _u, time: _m, ...rest } = event;
    const { datacontenttype: _c, dataschema: _d, data, data_base64: bytes, ...extensions } = rest;
    if (data !== undefined && bytes !== undefined)
      context.addIssue({ code: 'custom', path: ['data_base64'], message: 'does not go with data: give one of them' });
    const names = Object.keys(extensions);
    if (names.length > MOST_EXTENSIONS)
      context.addIssue({ code: 'custom', message: `has more than ${MOST_EXTENSIONS} extensions` });
    for (const name of names.slice(0, MOST_EXTENSIONS)) {
      const value = extensions[name];
      if (!EXTENSION.test(name))
        context.addIssue({ code: 'custom', path: [name], message: 'must have lower-case letters and digits only' });
      else if (value !== null && !['string', 'number', 'boolean'].includes(typeof value))
        context.addIssue({ code: 'custom', path: [name], message: 'must be a text, a number or a boolean' });
      else if (typeof value === 'string' && value.length > 1_000)
        context.addIssue({ code: 'custom', path: [name], message: 'must have at most 1,000 characters' });
    }
  });
export type CloudEvent = z.infer<typeof cloudEventSchema>;

export const cloudEventBatchSchema = z
  .array(cloudEventSchema, 'must be a list of events')
  .max(MAX_BATCH_EVENTS, `must have at most ${MAX_BATCH_EVENTS} events`);

/** The body of before CloudEvents. */
export const namedEventSchema = z.strictObject({ name: nameSchema, payload: paramsSchema.optional() });

/** Body of `POST /v1/events`. */
export const sendEventSchema = z.union([cloudEventSchema, cloudEventBatchSchema, namedEventSchema]);

/** The answer to one event, or to each of a batch, in its order. */
export const sentEventSchema = signalledSchema.extend({ source: z.string(), id: z.string() });
export type SentEvent = z.infer<typeof sentEventSchema>;
export const sentEventsSchema = z.object({ events: z.array(sentEventSchema) });
export type SentEvents = z.infer<typeof sentEventsSchema>;
