/** What a task asks of the worker that runs it. */
import { z } from 'zod';
import type { Problem } from '../errors.ts';
import { MAX_GANG_SIZE } from '../limits.ts';
import {
  type Amounts,
  amountForm,
  isPlacementName,
  type Labels,
  MAX_LABEL_CHARS,
  MAX_LABELS,
  MAX_RESOURCES,
  readAmount,
} from '../placement.ts';
import { nameSchema } from './common.ts';

const placementName = z
  .string()
  .refine(
    isPlacementName,
    'must have 1 to 63 letters, digits or the characters _ . / -, and begin with a letter or digit',
  );

const resourcesSchema = z
  .record(placementName, z.union([z.number(), z.string().max(40)], 'must be a number or a size such as "4GiB"'))
  .transform((given, context): Amounts => {
    const amounts: Record<string, number> = {};
    for (const [name, value] of Object.entries(given)) {
      const amount = readAmount(name, value);
      if (amount === null || amount === 0) {
        context.addIssue({ code: 'custom', path: [name], message: `must be ${amountForm(name)}, and more than 0` });
      } else amounts[name] = amount;
    }
    if (Object.keys(amounts).length > MAX_RESOURCES)
      context.addIssue({ code: 'custom', message: `must name at most ${MAX_RESOURCES} resources` });
    return amounts;
  });

const labelValue = z.string().min(1).max(MAX_LABEL_CHARS);
const labelsSchema = z
  .record(placementName, labelValue)
  .refine((labels) => Object.keys(labels).length <= MAX_LABELS, `must have at most ${MAX_LABELS} labels`);

const gangSizeSchema = z.int().min(2).max(MAX_GANG_SIZE);

export const placementFields = {
  /** What it takes of its worker while it runs: cpu, memory, disk, gpu, or what workers offer under another name. */
  resources: resourcesSchema.optional(),
  /** Only on workers with these labels. */
  labels: labelsSchema.optional(),
  /** Only on workers of this zone: the label `zone`. */
  zone: labelValue.optional(),
  /** Rather on workers with these labels, or on the worker that ran one of these tasks of the same run. */
  prefer: z
    .strictObject({
      labels: labelsSchema.optional(),
      near: z.array(nameSchema).min(1).max(20).optional(),
    })
    .optional(),
  /** Rather where fewer tasks of the same run, or dag, are running: per worker, or per value of a label. */
  spread: z
    .union([
      z.enum(['run', 'dag']),
      z.strictObject({ of: z.enum(['run', 'dag']).default('run'), over: placementName.optional() }),
    ])
    .optional(),
  /** A worker of its own: nothing runs beside it. */
  exclusive: z.boolean().optional(),
  /** So many attempts that begin together or not at all, each on a worker of its own, or several on one with `share`. */
  gang: z
    .union(
      [gangSizeSchema, z.strictObject({ size: gangSizeSchema, share: z.boolean().optional() })],
      'must be a whole number, or { size, share }',
    )
    .optional(),
  /** Whether it may run on workers that can be taken away at short notice; `allowed` unless told. */
  spot: z.enum(['allowed', 'never']).optional(),
  /** Whether its attempts may be stopped to make room for critical tasks; true unless told. */
  preemptible: z.boolean().optional(),
} as const;

const placementSchema = z.object(placementFields);
type TaskPlacement = z.output<typeof placementSchema>;

export interface PlacementShape {
  readonly resources?: Amounts;
  readonly labels?: Labels;
  readonly prefer?: Labels;
  readonly near?: readonly number[];
  readonly spread?: { readonly of: 'run' | 'dag'; readonly over?: string };
  readonly exclusive?: true;
  readonly spot?: 'never';
  readonly gang?: GangShape;
}

export interface GangShape {
  readonly size: number;
  readonly share?: true;
}

/** The field `placement` of its spec; none when it asks for nothing. */
export function placementSpec(
  task: TaskPlacement,
  numbers: ReadonlyMap<string, number>,
): { readonly placement?: PlacementShape; readonly preemptible?: false } {
  const { resources, zone, prefer, spread, exclusive, spot } = task;
  const stays = task.preemptible === false ? { preemptible: false as const } : {};
  const labels = { ...task.labels, ...(zone === undefined ? {} : { zone }) };
  const near = prefer?.near?.flatMap((name) => numbers.get(name) ?? []);
  const placement: PlacementShape = {
    ...(isEmpty(resources) ? {} : { resources: resources! }),
    ...(isEmpty(labels) ? {} : { labels }),
    ...(isEmpty(prefer?.labels) ? {} : { prefer: prefer!.labels! }),
    ...(near === undefined || near.length === 0 ? {} : { near }),
    ...(spread === undefined ? {} : { spread: spreadSpec(spread) }),
    ...(exclusive === true ? { exclusive: true as const } : {}),
    ...(spot === 'never' ? { spot } : {}),
    ...(task.gang === undefined ? {} : { gang: gangShape(task.gang) }),
  };
  return isEmpty(placement) ? stays : { placement, ...stays };
}

export function gangShape(gang: NonNullable<TaskPlacement['gang']>): GangShape {
  if (typeof gang === 'number') return { size: gang };
  return { size: gang.size, ...(gang.share === true ? { share: true as const } : {}) };
}

function spreadSpec(spread: NonNullable<TaskPlacement['spread']>): NonNullable<PlacementShape['spread']> {
  if (typeof spread === 'string') return { of: spread };
  return { of: spread.of, ...(spread.over === undefined ? {} : { over: spread.over }) };
}

const isEmpty = (of: object | undefined): boolean => of === undefined || Object.keys(of).length === 0;

interface PlacedTask extends TaskPlacement {
  readonly dag?: unknown;
}

export function checkPlacement(
  tasks: readonly PlacedTask[],
  numbers: ReadonlyMap<string, number>,
  problems: Problem[],
  list = 'tasks',
): void {
  tasks.forEach((task, no) => {
    const at = `${list}[${no}]`;
    for (const field of task.dag === undefined ? [] : FIELDS) {
      if (task[field] === undefined) continue;
      problems.push({ path: `${at}.${field}`, message: 'is for tasks that run: set it on tasks of the other dag' });
    }
    if (task.zone !== undefined && task.labels?.zone !== undefined && task.labels.zone !== task.zone)
      problems.push({ path: `${at}.zone`, message: 'differs from labels.zone: give one of them' });
    task.prefer?.near?.forEach((name, i) => {
      if (!numbers.has(name))
        problems.push({ path: `${at}.prefer.near[${i}]`, message: `"${name}" is no task of the dag` });
    });
  });
}

const FIELDS = Object.keys(placementFields) as (keyof typeof placementFields)[];
