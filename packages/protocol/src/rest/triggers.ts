/** `on`: the events that start runs of a dag. One trigger, or a list of them. */
import { z } from 'zod';
import { MAX_TRIGGERS } from '../limits.ts';
import { assetsSchema } from './asset-fields.ts';
import { nameSchema, spanSchema } from './common.ts';
import { MAX_EXPRESSION_CHARS } from './expression.ts';

/** A type, or the beginning of types: `order.paid`, `order.*`, `*`. CloudEvents allows any text; blanks help nobody. */
export const eventTypeSchema = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'must have 1 to 200 printable ASCII characters, without spaces');

export const eventPatternSchema = eventTypeSchema.refine(
  (text) => !text.includes('*') || text === '*' || (text.indexOf('*') === text.length - 1 && text.endsWith('.*')),
  'may have a * only as its last part: order.*',
);

/** Events wait for a day at most. */
const DAY_MS = 86_400_000;
const waitSchema = spanSchema({ maxMs: DAY_MS, example: '"30s" or "5m"' });

const expression = z.string().min(1).max(MAX_EXPRESSION_CHARS);

export const triggerSchema = z.strictObject({
  name: nameSchema.optional(),
  /** One of the two, which mean the same. */
  event: eventPatternSchema.optional(),
  type: eventPatternSchema.optional(),
  source: z
    .string()
    .min(1)
    .max(1_000)
    .refine((text) => !text.slice(0, -1).includes('*'), 'may have a * at its end only: /shop/*')
    .optional(),
  where: expression.optional(),
  /** JSON; texts can hold `${{ event.data.x }}`. */
  params: z.unknown().optional(),
  dedupe: expression.optional(),
  batch: z
    .strictObject({
      max: z.int().min(2).max(1_000).default(100),
      within: waitSchema.default(10_000),
      key: expression.optional(),
    })
    .optional(),
  debounce: z
    .union([
      waitSchema,
      z.strictObject({ wait: waitSchema, atMost: waitSchema.optional(), key: expression.optional() }),
    ])
    .optional(),
  assets: assetsSchema.optional(),
});
export type ParsedTrigger = z.output<typeof triggerSchema>;

export const triggersSchema = z.union([
  triggerSchema,
  z.array(triggerSchema).min(1, 'must name at least one trigger').max(MAX_TRIGGERS),
]);
export type ParsedTriggers = z.output<typeof triggersSchema>;

/** What editors show. */
export const TRIGGER_WORDS = {
  on: {
    description: 'The events that start runs: one trigger, or a list of triggers.',
    examples: [
      { event: 'order.paid' },
      [{ type: 'order.*', where: 'event.data.total > 100', params: { order: '${{ event.data.id }}' } }],
    ],
  },
  'on.name': { description: 'Unique within the dag. Default: the type.' },
  'on.event': { description: 'Type of the event, or the beginning of types.', examples: ['order.paid', 'order.*'] },
  'on.type': { description: 'The same as event.', examples: ['order.paid'] },
  'on.source': { description: 'Source of the event, or the beginning of sources.', examples: ['/shop/*'] },
  'on.where': {
    description: 'A condition over the event. Without it, each event of the type starts a run.',
    examples: ['event.data.total > 100 && event.subject != "test"'],
  },
  'on.params': {
    description: 'Params of the run, with references to the event. Default: the data of the event.',
    examples: [{ order: '${{ event.data.id }}' }],
  },
  'on.dedupe': {
    description: 'Events with the same value start one run. Default: source and id of the event.',
    examples: ['event.data.orderId'],
  },
  'on.batch': {
    description: 'One run for several events. Its params are { events: […] }.',
    examples: [{ max: 100, within: '10s' }],
  },
  'on.batch.max': { description: 'The run starts when so many events have come. Default: 100.' },
  'on.batch.within': { description: 'The run starts this long after the first event. Default: 10s.' },
  'on.batch.key': { description: 'A batch for each value.', examples: ['event.data.customer'] },
  'on.debounce': {
    description: 'One run, with the last event, when no other has come for this long.',
    examples: ['30s', { wait: '30s', key: 'event.data.file', atMost: '5m' }],
  },
  'on.debounce.wait': { description: 'The run starts when no event has come for this long.', examples: ['30s'] },
  'on.debounce.atMost': {
    description: 'It starts at the latest this long after the first event. Default: ten times wait.',
  },
  'on.debounce.key': { description: 'Events with another value wait by themselves.', examples: ['event.data.file'] },
} as const;
