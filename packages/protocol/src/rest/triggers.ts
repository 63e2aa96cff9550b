/** `on`: the events that start runs of a dag. One trigger, or a list of them. */
import { z } from 'zod';
import { MAX_TRIGGERS } from '../limits.ts';
import { nameSchema } from './common.ts';
import { MAX_EXPRESSION_CHARS } from './expression.ts';

/** A type, or the beginning of types: `order.paid`, `order.*`, `*`. CloudEvents allows any text; blanks help nobody. */
export const eventTypeSchema = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'must have 1 to 200 printable ASCII characters, without spaces');

const patternSchema = eventTypeSchema.refine(
  (text) => !text.includes('*') || text === '*' || (text.indexOf('*') === text.length - 1 && text.endsWith('.*')),
  'may have a * only as its last part: order.*',
);

const expression = z.string().min(1).max(MAX_EXPRESSION_CHARS);

export const triggerSchema = z.strictObject({
  name: nameSchema.optional(),
  /** One of the two, which mean the same. */
  event: patternSchema.optional(),
  type: patternSchema.optional(),
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
} as const;
