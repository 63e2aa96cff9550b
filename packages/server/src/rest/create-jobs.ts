/** Creates jobs: alone, up to 1,000 at once, or any number by lines. Those of one shape are runs or schedules of one hidden dag. */
import { createHash } from 'node:crypto';
import {
  type Command,
  type Instant,
  makeRunUid,
  type NamedSchedule,
  type RunUid,
  type ScheduleSpec,
  uidOfItem,
} from '@signalbox/engine';
import {
  type CreatedJob,
  type CreatedJobs,
  newJobSchema,
  newJobsSchema,
  newScheduleSchema,
  type ParsedNewJob,
  parseOr,
  SignalboxError,
  toScheduleSpec,
} from '@signalbox/protocol';
import type { NewJobRow } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { randomBits, systemClock } from '../ports/clock.ts';
import { guardCritical, refuseCritical, withPriority } from './critical.ts';
import { type DagPlace, firstShard } from './dag-lookup.ts';
import { answerOf, badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { type AskedJob, importJobsRoute, type RawJob } from './import-jobs.ts';
import { type JobShape, type ShapedJob, shapeOf } from './job-shape.ts';
import { keyIn, once } from './once.ts';
import type { RestParts } from './rest-parts.ts';
import { itemOf, refuseLongParams, submitNamed } from './submit.ts';

const BATCH_BYTES = 8 * 1024 * 1024;

/** The idempotency key, if there is one, and whether an earlier request with it was cut off. */
interface Key {
  readonly name: string | null;
  readonly again: boolean;
}

interface Wanted extends ShapedJob {
  readonly job: ParsedNewJob;
}

export function createJobRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, main, dags } = parts;

  app.post('/v1/jobs', { bodyLimit: BATCH_BYTES }, async (request, reply) => {
    const raw = request.body as RawJob;
    const job = parseOr(newJobSchema, raw, 'BAD_REQUEST');
    reply.code(201);
    return once<CreatedJob>(request, parts, {
      target: 'jobs',
      body: raw,
      make: async (name, again) => {
        const wanted = await wantedOf(request, job, raw);
        const [id] = await createShape(request, wanted.shape, [wanted], { name, again });
        return { id: id!, dag: wanted.shape.name };
      },
    });
  });

  app.post('/v1/jobs/batch', { bodyLimit: BATCH_BYTES }, async (request, reply) => {
    const body = request.body as { jobs: readonly RawJob[] };
    const { jobs } = parseOr(newJobsSchema, body, 'BAD_REQUEST');
    reply.code(201);
    return once<CreatedJobs>(request, parts, {
      target: 'jobs',
      body,
      make: async (name, again) => {
        // Another operation than that of a single job: the same key is another one (I11).
        const key = { name: name === null ? null : `batch ${name}`, again };
        const asked = jobs.map((job, no) => ({ job, raw: body.jobs[no]! }));
        const items = await createMany(request, asked, () => key);
        const told = items.map(
          (made) =>
            (made instanceof SignalboxError
              ? { id: null, error: made.body() }
              : { id: made, error: null }) as CreatedJobs['items'][number],
        );
        return { created: told.filter(({ error }) => error === null).length, items: told };
      },
    });
  });

  importJobsRoute(app, parts, (request, asked, keyOfFirst) =>
    createMany(request, asked, (no) => ({ name: keyOfFirst(no), again: true })),
  );

  /** Those of one shape are created together or not at all, under a key that may depend on the first of them. */
  async function createMany(
    request: FastifyRequest,
    asked: readonly AskedJob[],
    keyOfFirst: (no: number) => Key,
  ): Promise<(string | SignalboxError)[]> {
    const made: (string | SignalboxError)[] = [];
    const byShape = new Map<string, { shape: JobShape; list: Wanted[]; places: number[] }>();
    for (const [no, { job, raw }] of asked.entries()) {
      try {
        const wanted = await wantedOf(request, job, raw);
        const group = byShape.get(wanted.shape.name) ?? { shape: wanted.shape, list: [], places: [] };
        group.list.push(wanted);
        group.places.push(no);
        byShape.set(wanted.shape.name, group);
      } catch (error) {
        made[no] = refusalOrThrow(error);
      }
    }
    for (const { shape, list, places } of byShape.values()) {
      const ids = await createShape(request, shape, list, keyOfFirst(places[0]!)).catch(refusalOrThrow);
      for (const [index, no] of places.entries()) made[no] = ids instanceof SignalboxError ? ids : ids[index]!;
    }
    return made;
  }

  async function wantedOf(request: FastifyRequest, asked: ParsedNewJob, raw: RawJob): Promise<Wanted> {
    const { tenantId } = callerOf(request);
    const job = withPriority(asked, callerOf(request));
    const when = [job.at, job.delay, job.cron, job.every].filter((one) => one !== undefined).length;
    if (when > 1) throw badRequest('at', 'does not go with delay, cron or every: give one of them');
    if (job.zone !== undefined && job.cron === undefined) throw badRequest('zone', 'goes with cron');
    if (job.priority === 'critical') refuseCritical(request);
    const shaped = await shapeOf(request, parts, tenantId, { job, raw });
    // Before its dag is made: what is refused leaves nothing (I12).
    refuseLongParams(shaped.params);
    return { ...shaped, job };
  }

  /** Their ids, in order. All of them or none. */
  async function createShape(
    request: FastifyRequest,
    shape: JobShape,
    list: readonly Wanted[],
    key: Key,
  ): Promise<string[]> {
    const isCritical = list.some(({ job }) => job.priority === 'critical');
    await guardCritical(request, parts, { isCritical, target: shape.name });
    try {
      return await createAt(request, shape, await placeOf(request, shape), list, key);
    } catch (error) {
      if (!(error instanceof SignalboxError) || error.code !== 'DAG_NOT_FOUND') throw error;
      // No job had used the shape for long, and its dag was removed: it is made again.
      dags.forget(callerOf(request).tenantId, shape.name);
      return createAt(request, shape, await placeOf(request, shape), list, key);
    }
  }

  async function createAt(
    request: FastifyRequest,
    shape: JobShape,
    place: DagPlace,
    list: readonly Wanted[],
    key: Key,
  ): Promise<string[]> {
    const isOnce = ({ job }: Wanted) => job.cron === undefined && job.every === undefined;
    const ids = new Map<Wanted, string>();
    const [single, recurring] = [list.filter(isOnce), list.filter((wanted) => !isOnce(wanted))];
    try {
      if (recurring.length > 0) await createRecurring(request, shape, place, recurring, key, ids);
      if (single.length > 0) await createSingle(request, shape, place, single, key, ids);
    } catch (error) {
      throw asOfKey(request, error);
    }
    return list.map((wanted) => ids.get(wanted)!);
  }

  async function createSingle(
    request: FastifyRequest,
    shape: JobShape,
    place: DagPlace,
    list: readonly Wanted[],
    key: Key,
    ids: Map<Wanted, string>,
  ): Promise<void> {
    const { tenantId, actor } = callerOf(request);
    const uid = makeRunUid(place.shard, systemClock.wall(), randomBits(48), randomBits(26));
    const idAt = (first: RunUid, no: number) => (no === 0 ? first : uidOfItem(first, no));
    const items = list.map(({ job, params }) =>
      itemOf({ params, priority: job.priority ?? null, at: job.at, delayMs: job.delay }),
    );
    const rows = list.map((wanted, no) => rowOf(wanted, idAt(uid, no), place, false));
    await fromDatabase(() => queries.insertJobRows(tenantId, rows, actor), request.log);
    const forget = () =>
      queries
        .deleteJobRows(
          tenantId,
          rows.map(({ id }) => id),
        )
        .catch(() => undefined);
    const answer = await submitNamed(request, parts, {
      name: shape.name,
      place,
      items,
      key: key.name === null ? null : `job ${key.name}`,
      uid,
    }).catch(async (error: unknown) => {
      // Nothing came of it. Without an answer nobody knows: rows without a run are no jobs, and go by themselves.
      if (error instanceof SignalboxError && error.code !== 'UNKNOWN_OUTCOME') await forget();
      throw error;
    });
    if (answer.uid !== uid) await forget();
    for (const [no, wanted] of list.entries()) ids.set(wanted, idAt(answer.uid, no));
  }

  async function createRecurring(
    request: FastifyRequest,
    shape: JobShape,
    place: DagPlace,
    list: readonly Wanted[],
    key: Key,
    ids: Map<Wanted, string>,
  ): Promise<void> {
    const { tenantId, actor } = callerOf(request);
    const begunAt = await begunOf(request, place, shape, key);
    const schedules = list.map((wanted, no): NamedSchedule => {
      const { cron, every, zone, priority } = wanted.job;
      const asked = { ...(cron === undefined ? { every } : { cron }), ...(zone === undefined ? {} : { zone }) };
      const parsed = parseOr(newScheduleSchema, asked, 'BAD_REQUEST');
      const spec = toScheduleSpec(parsed, wanted.params) as ScheduleSpec;
      const name = recurringId(place, shape, key.name, no, begunAt);
      ids.set(wanted, name);
      return { name, spec: { ...spec, ...(priority === undefined ? {} : { priority }) } };
    });
    const rows = list.map((wanted) => rowOf(wanted, ids.get(wanted)!, place, true));
    const inserted = await fromDatabase(() => queries.insertJobRows(tenantId, rows, actor), request.log);
    const { shard, dagId } = place;
    const command: Command = { kind: 'CreateSchedules', shard, dagId, tenantId, actor, schedules };
    const routed = await main.command(command, parts.leftMs(request));
    // Only what began here: rows that were there belong to jobs that an earlier request with this key made.
    if (routed.status === 'answered' && !routed.answer.ok)
      await queries.deleteJobRows(tenantId, inserted).catch(() => undefined);
    answerOf(routed, 'done', { dag: shape.name });
  }

  /** The time in the ids of recurring jobs. A request that is made again takes that of the first one, whose rows are there. */
  async function begunOf(request: FastifyRequest, place: DagPlace, shape: JobShape, key: Key): Promise<Instant> {
    const times = timesOfKey();
    if (!key.again) return times[0];
    const ids = times.map((at) => recurringId(place, shape, key.name, 0, at) as string);
    const found = await fromDatabase(() => queries.findJobIds(callerOf(request).tenantId, ids), request.log);
    return times.find((_, no) => found.has(ids[no]!)) ?? times[0];
  }

  async function placeOf(request: FastifyRequest, shape: JobShape): Promise<DagPlace> {
    const { tenantId, tenant, actor } = callerOf(request);
    const { name, spec, hash } = shape;
    const known = dags.peek(tenantId, name);
    if (known !== undefined) return known;
    const found = await fromDatabase(() => queries.findDag(tenantId, name), request.log);
    if (found !== null && found.retiredAt === null) {
      const place = { shard: found.shard, dagId: found.dagId, params: null };
      dags.keep(tenantId, name, place);
      return place;
    }
    for (const bundle of [spec.bundle, spec.files]) {
      if (bundle === undefined) continue;
      const isThere = await fromDatabase(() => queries.touchBundle(tenantId, bundle), request.log);
      if (!isThere) throw new SignalboxError('BUNDLE_NOT_FOUND', { bundle });
    }
    const shard = found?.shard ?? firstShard(tenantId, name);
    const command: Command = { kind: 'DeployDag', shard, tenantId, tenant, name, spec, hash, actor };
    const { dagId } = answerOf(await main.command(command, parts.leftMs(request)), 'deployed', { dag: name });
    const place = { shard, dagId, params: null };
    dags.keep(tenantId, name, place);
    return place;
  }
}

function rowOf({ job, what }: Wanted, id: string, { shard, dagId }: DagPlace, recurring: boolean): NewJobRow {
  return { id, shard, dagId, recurring, what, name: job.name ?? null, tags: job.tags ?? [], owner: job.owner ?? null };
}

/** Ids of recurring jobs follow from the key, if there is one, so that a request that was cut off makes no second job (I11). */
function recurringId(
  { shard }: DagPlace,
  { hash }: JobShape,
  key: string | null,
  no: number,
  begunAt: Instant,
): RunUid {
  if (key === null) return makeRunUid(shard, systemClock.wall(), randomBits(48), randomBits(26));
  const digest = createHash('sha256').update(`${hash} ${no} ${key}`).digest();
  return makeRunUid(shard, begunAt, digest.readUIntBE(0, 6), digest.readUInt32BE(6) % 2 ** 26);
}

const STEP_MS = 600_000;
/** Keys live for a day. */
const STEPS_OF_KEY = 24 * 6 + 1;

/** Times that an id may have been made of, newest first. A server whose clock is ahead may have made it of the next one. */
function timesOfKey(): [Instant, ...Instant[]] {
  const step = Math.floor(systemClock.wall() / STEP_MS);
  const at = (back: number) => ((step - back) * STEP_MS) as Instant;
  return [at(0), at(-1), ...Array.from({ length: STEPS_OF_KEY }, (_, no) => at(no + 1))];
}

/** The ids of jobs follow from the key: what is there and differs was made with it. It is named as the caller wrote it. */
function asOfKey(request: FastifyRequest, error: unknown): unknown {
  const key = keyIn(request);
  const isOther = error instanceof SignalboxError && ['IDEMPOTENCY_CONFLICT', 'SCHEDULE_EXISTS'].includes(error.code);
  return isOther && key !== null ? new SignalboxError('IDEMPOTENCY_CONFLICT', { key }) : error;
}

function refusalOrThrow(error: unknown): SignalboxError {
  if (error instanceof SignalboxError && error.code !== 'UNKNOWN_OUTCOME') return error;
  throw error;
}
