/** Jobs: a command, an HTTP call or a task of a deployed dag, to run now, later or again and again, without a dag of their own. */
import { z } from 'zod';
import { JOB_STATES } from '../words.ts';
import { durationSchema, nameSchema, pageQuerySchema, prioritySchema, validitySchema } from './common.ts';
import { callbackUrlSchema, ownerSchema, tagSchema } from './dag-definition.ts';
import { problemBodySchema } from './dags.ts';
import { retriesSchema } from './retries.ts';
import { runIdSchema, runSummarySchema } from './runs.ts';
import { httpCallSchema, inputValuesSchema, workFields } from './work.ts';

const instant = z.iso.datetime();
export const MAX_JOBS_AT_ONCE = 1_000;

/** Body of `POST /v1/jobs`. What it does is checked like a task of a dag. */
export const newJobSchema = z.strictObject({
  run: workFields.run.describe('A command line, or a list of a program and its arguments.'),
  shell: workFields.shell,
  env: workFields.env,
  cwd: workFields.cwd,
  secrets: workFields.secrets,
  http: httpCallSchema.optional().describe('An HTTP call.'),
  task: z
    .strictObject({ dag: nameSchema, task: nameSchema })
    .optional()
    .describe('A task of a deployed dag, with the code that is deployed when the job is created.'),
  inputs: inputValuesSchema.optional().describe('With `task`: values in place of its inputs.'),
  params: z.record(z.string(), z.unknown()).optional().describe('For references such as `${{ params.order }}`.'),
  at: z.iso.datetime({ offset: true }).optional().describe('Run then.'),
  delay: validitySchema.optional().describe('Run so much later, such as `10m`.'),
  cron: z.union([z.string().max(200), z.array(z.string().max(200)).min(1).max(20)]).optional(),
  every: z.string().max(20).optional().describe('Run at this interval, such as `15m`.'),
  zone: z.string().max(100).optional().describe('IANA time zone of `cron`; UTC unless told.'),
  priority: prioritySchema.optional(),
  queue: nameSchema.optional(),
  retries: retriesSchema.optional(),
  timeout: durationSchema.optional(),
  callbackUrl: callbackUrlSchema.optional().describe('Called when a run of it has ended.'),
  name: z.string().min(1).max(200).optional().describe('For people.'),
  tags: z.array(tagSchema).max(20).optional(),
  owner: ownerSchema.optional(),
});
export type NewJob = z.input<typeof newJobSchema>;
export type ParsedNewJob = z.output<typeof newJobSchema>;

/** Body of `POST /v1/jobs/batch`. */
export const newJobsSchema = z.strictObject({ jobs: z.array(newJobSchema).min(1).max(MAX_JOBS_AT_ONCE) });

export const jobStateSchema = z.enum(JOB_STATES);

export const jobViewSchema = z.object({
  id: runIdSchema,
  state: jobStateSchema,
  /** What it does, in a few words. */
  what: z.string(),
  name: z.string().nullable(),
  tags: z.array(z.string()),
  owner: z.string().nullable(),
  /** It runs again and again. */
  recurring: z.boolean(),
  /** When it runs, for a job that recurs: `0 7 * * *`, `every 15m`. */
  fires: z.string().nullable(),
  /** When it runs next; null when it will not by itself. */
  nextAt: instant.nullable(),
  /** The run of a job that runs once, from when it begins. Its id is that of the job. */
  run: runIdSchema.nullable(),
  /** How many runs a job that recurs has had. */
  fired: z.int().nullable(),
  /** The dag that the server made for jobs of this shape. */
  dag: z.string(),
  createdAt: instant,
  createdBy: z.string(),
});
export type JobView = z.infer<typeof jobViewSchema>;

export const createdJobSchema = z.object({ id: runIdSchema, dag: z.string() });
export type CreatedJob = z.infer<typeof createdJobSchema>;

/** In the order of the request. Jobs of one shape are created together or not at all. */
export const createdJobsSchema = z.object({
  created: z.int(),
  items: z.array(z.object({ id: runIdSchema.nullable(), error: problemBodySchema.nullable() })),
});
export type CreatedJobs = z.infer<typeof createdJobsSchema>;

/** Query of `GET /v1/jobs`. */
export const listJobsSchema = pageQuerySchema.extend({
  tag: tagSchema.optional().describe('Only jobs with this tag.'),
  owner: ownerSchema.optional(),
  state: jobStateSchema.optional(),
  recurring: z.enum(['true', 'false']).optional(),
});

/** Newest first. A page can be short and still have a cursor. */
export const jobPageSchema = z.object({ items: z.array(jobViewSchema), cursor: z.string().nullable() });
export type JobPage = z.infer<typeof jobPageSchema>;

export const jobRunPageSchema = z.object({ items: z.array(runSummarySchema), cursor: z.string().nullable() });
export const jobDeletedSchema = z.object({ id: runIdSchema, deleted: z.literal(true) });
export type JobDeleted = z.infer<typeof jobDeletedSchema>;
