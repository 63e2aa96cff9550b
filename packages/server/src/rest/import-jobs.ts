/**
 * `POST /v1/jobs/import`: jobs, one per line. Jobs have no names, so what makes a request safe to repeat is its idempotency key. For each
 * group of lines a row says which lines were made under the key, and of what text (I11). Until that is written, the engine's keys do the
 * same: of the key and the number of a line. Those are per dag, and the dag of a `task` job is made of the code that is deployed. So a task
 * job is made twice only if a request was cut off within its group and its dag was deployed before the next one.
 */
import { randomUUID } from 'node:crypto';
import { newJobSchema, type ParsedNewJob, parseOr, SignalboxError } from '@signalbox/protocol';
import type { RequestKey } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from './guards.ts';
import { importLines, type Line, type Refused, takeLines } from './import-lines.ts';
import { begin, bodyHash, keyIn } from './once.ts';
import type { RestParts } from './rest-parts.ts';

export type RawJob = Readonly<Record<string, unknown>>;

export interface AskedJob {
  readonly job: ParsedNewJob;
  readonly raw: RawJob;
}

/** What became of each. Those of one shape are created together, under the key of the first of them. */
export type CreateJobs = (
  request: FastifyRequest,
  jobs: readonly AskedJob[],
  keyOfFirst: (no: number) => string,
) => Promise<readonly (string | SignalboxError)[]>;

export function importJobsRoute(app: FastifyInstance, parts: RestParts, create: CreateJobs): void {
  app.register(async (room) => {
    takeLines(room);
    room.post('/v1/jobs/import', (request) => {
      const given = keyIn(request);
      // Also without one: lines that a busy server did not get to are tried again within the request.
      const key = given ?? randomUUID();
      const createLines: CreateLines = async (lines) => {
        const jobs = lines.map(({ item }) => item);
        return refusedOf(lines, await create(request, jobs, (no) => `import ${key} ${lines[no]!.no}`));
      };
      return importLines<AskedJob>(request, {
        parse: (value) => ({ job: parseOr(newJobSchema, value, 'BAD_REQUEST'), raw: value as RawJob }),
        create: given === null ? createLines : oncePerGroup(request, parts, given, createLines),
        leftMs: () => parts.leftMs(request),
      });
    });
  });
}

type Lines = readonly Line<AskedJob>[];
type CreateLines = (lines: Lines) => Promise<readonly Refused<AskedJob>[]>;

/** The numbers of the lines of a group that are still to be made. */
interface Partly {
  readonly missing: readonly number[];
}

/** Makes the lines of a group that were not made under the key before. After a group that differs none is made: its lines may have moved. */
function oncePerGroup(request: FastifyRequest, parts: RestParts, key: string, create: CreateLines) {
  const { queries } = parts;
  const { tenantId } = callerOf(request);
  const operation = request.routeOptions.config.operation?.id ?? '';
  const groups = new Map<number, { readonly hash: string; readonly all: readonly number[] }>();
  let conflictAt = Infinity;
  let turn: Promise<unknown> = Promise.resolve();

  const beginGroup = async (group: number, row: RequestKey, hash: string) => {
    if (group > conflictAt) return { state: 'conflict' } as const;
    const begun = await begin(request, parts, row, hash);
    if (begun.state === 'conflict') conflictAt = group;
    return begun;
  };

  return async (lines: Lines, group: number): Promise<readonly Refused<AskedJob>[]> => {
    const row: RequestKey = { tenantId, operation, target: `group ${group}`, key };
    // The first time all lines of the group come, and later those that waited.
    const { hash, all } = groups.get(group) ?? {
      hash: bodyHash(lines.map(({ no, item }) => [no, item.raw])),
      all: lines.map(({ no }) => no),
    };
    groups.set(group, { hash, all });
    const begins = turn.then(() => beginGroup(group, row, hash));
    turn = begins.catch(() => undefined);
    const begun = await begins;
    if (begun.state === 'conflict') return [{ lines, error: new SignalboxError('IDEMPOTENCY_CONFLICT', { key }) }];
    if (begun.state !== 'begun') return [];
    const before = (begun.partly as Partly | undefined)?.missing ?? all;
    const asked = lines.filter(({ no }) => before.includes(no));
    try {
      const refused = await create(asked);
      const missing = missingAfter(before, asked, refused);
      if (missing.length === 0) await queries.answerRequest(row, { status: 200, answer: {} });
      else if (!begun.again && missing.length === all.length) await queries.forgetRequest(row);
      else await queries.releaseRequest(row, { missing } satisfies Partly);
      return refused;
    } catch (error) {
      // A row that stays is taken over when it is old enough.
      await queries.releaseRequest(row).catch(() => undefined);
      if (error instanceof SignalboxError) throw error;
      request.log.warn({ error: String(error) }, 'The outcome of an import is not known.');
      throw new SignalboxError('UNKNOWN_OUTCOME', { retryAfterMs: 1_000 });
    }
  };
}

/** Of the lines that were missing before. Some of them may not have been asked for this time. */
export function missingAfter(
  before: readonly number[],
  asked: readonly { readonly no: number }[],
  refused: readonly { readonly lines: readonly { readonly no: number }[] }[],
): readonly number[] {
  const made = new Set(asked.map(({ no }) => no));
  for (const { lines } of refused) for (const { no } of lines) made.delete(no);
  return before.filter((no) => !made.has(no));
}

/** Those that were refused for one reason, together. */
function refusedOf(
  lines: readonly Line<AskedJob>[],
  made: readonly (string | SignalboxError)[],
): readonly Refused<AskedJob>[] {
  const byError = new Map<SignalboxError, Line<AskedJob>[]>();
  for (const [no, error] of made.entries()) {
    if (!(error instanceof SignalboxError)) continue;
    const refused = byError.get(error);
    if (refused === undefined) byError.set(error, [lines[no]!]);
    else refused.push(lines[no]!);
  }
  return [...byError].map(([error, refused]) => ({ lines: refused, error }));
}
