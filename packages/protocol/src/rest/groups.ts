/** Groups of tasks and maps over lists, as users write them. */
import { z } from 'zod';
import { MAX_GROUPS, MAX_MAP_SIZE, MAX_MAP_SOURCES } from '../limits.ts';
import { jsonFault, nameSchema } from './common.ts';

const MAX_LIST_BYTES = 64 * 1024;

/** A reference to a list, or the list itself. What a text refers to is looked at once all tasks are known. */
const mapSourceSchema = z.union(
  [
    z.string().min(1).max(2_000),
    z
      .array(z.unknown())
      .max(MAX_MAP_SIZE)
      .superRefine((list, context) => {
        const fault = jsonFault(list, { bytes: MAX_LIST_BYTES });
        if (fault !== null) context.addIssue({ code: 'custom', message: fault });
      }),
  ],
  'must be a reference such as ${{ tasks.list.output }}, or a list',
);

const sourceName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'must be a name such as file or day');

const namedSources = z
  .record(sourceName, mapSourceSchema)
  .refine(
    (sources) => Object.keys(sources).length >= 1 && Object.keys(sources).length <= MAX_MAP_SOURCES,
    `must be 1 to ${MAX_MAP_SOURCES} lists by name`,
  );

export const MAP_MODES = ['product', 'zip'] as const;
export type MapMode = (typeof MAP_MODES)[number];

export const mapSchema = z.union(
  [
    mapSourceSchema,
    z.strictObject({
      /** One list, or several by name. */
      over: z.union([mapSourceSchema, namedSources], 'must be a reference, a list, or several of them by name'),
      /** Several lists: each with each, or the first with the first, the second with the second … */
      mode: z.enum(MAP_MODES).default('product'),
    }),
  ],
  'must be a reference such as ${{ tasks.list.output }}, a list, or { over, mode }',
);

export const groupDefinitionSchema = z.strictObject({
  name: nameSchema,
  /** The group that it is in. */
  group: z.string().max(200).optional(),
  map: mapSchema.optional(),
});

/** The fields of a task that say where it belongs; the task schema spreads them. */
export const placeFields = {
  group: z.string().max(200).optional(),
  /** Once for each item of a list: the same as a mapped group with this task alone in it. */
  map: mapSchema.optional(),
} as const;

/** The fields of a dag; its schema spreads them. */
export const groupFields = {
  groups: z.array(groupDefinitionSchema).max(MAX_GROUPS, `must be at most ${MAX_GROUPS}`).optional(),
  /** Maximum number of items of a map. Above it the map fails. Default: 10,000. */
  maxMapSize: z.int().min(1).max(MAX_MAP_SIZE).optional(),
} as const;
