/** An operation of the API: its path, who may use it, its input and its output. */
import { ERRORS, type ErrorCode, type Role, runIdSchema } from '@signalbox/protocol';
import { z } from 'zod';

export interface Operation {
  /** Also the name of the client's method. */
  readonly id: string;
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** As fastify writes it: `/v1/dags/:name`. */
  readonly path: string;
  readonly group: Group;
  /** A sentence. */
  readonly summary: string;
  /** Completes "Your credential does not allow you to …". */
  readonly action: string;
  /** The role that is needed; `anyone` needs no credential (I66). */
  readonly roles: readonly Role[] | 'anyone';
  /** It is about the whole cluster: only for the tenant that runs the installation (I65). */
  readonly installation?: true;
  readonly params?: Readonly<Record<string, z.ZodType>>;
  readonly query?: z.ZodObject;
  /** A POST that stores nothing: what it asks about needs a body. */
  readonly isRead?: true;
  /** Also for a suspended tenant: who may read may sign in and out, and take rights away. */
  readonly whileSuspended?: true;
  /** A schema for JSON; `bytes` for what goes as it is; `lines` for one JSON value per line, of the schema `line`. */
  readonly body?: z.ZodType | 'bytes' | 'lines';
  readonly line?: z.ZodType;
  /** An example of the body, for the page of docs. */
  readonly example?: unknown;
  readonly status: number;
  /** A schema for JSON, or the media type. */
  readonly answer: z.ZodType | string;
  /** Media types that the same route also gives, by `Accept`. */
  readonly also?: readonly string[];
  /** Beside those that every operation may be refused with. */
  readonly errors?: readonly ErrorCode[];
}

export const GROUPS = {
  dags: 'Dags',
  runs: 'Runs, tasks and logs',
  jobs: 'Jobs',
  letters: 'Dead letters and breakers',
  events: 'Events',
  assets: 'Assets',
  schedules: 'Schedules',
  backfills: 'Backfills',
  costs: 'Costs and budgets',
  fleet: 'Workers and servers',
  access: 'Credentials',
  upkeep: 'Retention',
  bundles: 'Bundles',
  pages: 'Pages and health',
} as const;
export type Group = keyof typeof GROUPS;

export const READERS = ['admin', 'operator', 'viewer'] as const;
export const OPERATORS = ['admin', 'operator'] as const;
export const ADMINS = ['admin'] as const;
export const EVERY_ROLE = ['admin', 'operator', 'viewer', 'worker'] as const;

/** What any request may be refused with, whatever it asks for. */
export const COMMON_ERRORS = ['BAD_REQUEST', 'WRONG_HOST', 'RATE_LIMITED', 'UNAVAILABLE', 'INTERNAL'] as const;
/** What any change may be refused with. */
export const CHANGE_ERRORS = ['IDEMPOTENCY_CONFLICT', 'OVERLOADED', 'UNKNOWN_OUTCOME', 'TOO_LARGE'] as const;

const name = z.string().describe('Its name.');
export const inDag = { name: name.describe('Name of the dag.') };
export const inRun = { id: runIdSchema.describe('Id of the run.') };
export const inTask = { ...inRun, task: z.string().describe('Name of the task.') };

/** Who it is for goes with what it does. */
export function summaryOf({ summary, installation }: Operation): string {
  return installation === true ? `${summary} Only for the tenant \`default\`.` : summary;
}

export function isChange({ method, isRead }: Pick<Operation, 'method' | 'isRead'>): boolean {
  return method !== 'GET' && isRead !== true;
}

/** Every code that the operation may be refused with. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>(COMMON_ERRORS);
  if (operation.roles !== 'anyone') codes.add('UNAUTHENTICATED').add('FORBIDDEN');
  if (isChange(operation)) for (const code of CHANGE_ERRORS) codes.add(code);
  for (const code of operation.errors ?? []) codes.add(code);
  return [...codes].sort((a, b) => ERRORS[a].http - ERRORS[b].http);
}
