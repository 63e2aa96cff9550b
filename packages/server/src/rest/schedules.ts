/** Schedules: listed, created, edited, paused, resumed and deleted. Those of definitions are only paused here. */
import type { Command, DagId, NamedSchedule, ScheduleSpec, ShardNo } from '@signalbox/engine';
import {
  createScheduleSchema,
  createSchedulesSchema,
  editScheduleSchema,
  type ListedSchedule as ListedAnswer,
  listSchedulesSchema,
  nameSchema,
  type ParsedNewSchedule,
  parseOr,
  resolveAfter,
  type ScheduleDeleted,
  type SchedulePage,
  type SchedulePaused,
  type SchedulesCreated,
  SignalboxError,
  toScheduleSpec,
  warningsOf,
} from '@signalbox/protocol';
import type { ListedSchedule } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { systemClock } from '../ports/clock.ts';
import { checkerOf } from './checked-items.ts';
import { guardCritical } from './critical.ts';
import type { DagPlace } from './dag-lookup.ts';
import { scheduleAnswer } from './dag-views.ts';
import { type DagRequest, dagNameOf, findDag } from './dags.ts';
import { answerOf, badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { importSchedulesRoute } from './import-schedules.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';

type ScheduleRequest = FastifyRequest<{ Params: { name: string; schedule: string } }>;

const BATCH_BYTES = 8 * 1024 * 1024;

export function scheduleRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries, main, dags } = parts;

  app.get('/v1/schedules', (request) => list(request, parseOr(listSchedulesSchema, request.query, 'BAD_REQUEST').dag));

  app.get('/v1/dags/:name/schedules', async (request: DagRequest) =>
    list(request, (await findDag(request, parts)).name),
  );

  async function list(request: FastifyRequest, dagName: string | undefined): Promise<SchedulePage> {
    const { tenantId } = callerOf(request);
    const { cursor, limit, paused, origin } = parseOr(listSchedulesSchema, request.query, 'BAD_REQUEST');
    const filters = {
      ...(dagName === undefined ? {} : { dagName }),
      ...(paused === undefined ? {} : { paused: paused === 'true' }),
      ...(origin === undefined ? {} : { origin }),
    };
    const wanted = { after: cursor === undefined ? null : placeOf(cursor), limit, ...filters };
    const found = await fromDatabase(() => queries.listSchedules(tenantId, wanted), request.log);
    const last = found.at(-1);
    const next = found.length < limit || last === undefined ? null : `${last.dagName}/${last.scheduleNo}`;
    return { items: found.map(listedAnswer), cursor: next };
  }

  app.post('/v1/schedules', { bodyLimit: BATCH_BYTES }, async (request) => {
    const { items } = parseOr(createSchedulesSchema, request.body, 'BAD_REQUEST');
    const created = await once<SchedulesCreated>(request, parts, {
      target: 'schedules',
      body: items,
      make: async () => {
        const byDag = new Map<string, Named[]>();
        for (const { dag, ...schedule } of items) {
          const ofDag = byDag.get(dag);
          if (ofDag === undefined) byDag.set(dag, [schedule]);
          else ofDag.push(schedule);
        }
        const errors = new Map<string, SignalboxError>();
        await Promise.all(
          [...byDag].map(async ([dag, ofDag]) => {
            const error = await create(request, dag, ofDag).then(() => null, refusalOrThrow);
            if (error !== null) errors.set(dag, error);
          }),
        );
        const told = items.map(
          ({ dag, name }) =>
            ({ dag, name, error: errors.get(dag)?.body() ?? null }) as SchedulesCreated['items'][number],
        );
        return { created: told.filter(({ error }) => error === null).length, items: told };
      },
    });
    return { ...created, ...warningsOf(request.body) };
  });

  importSchedulesRoute(app, parts, create);

  app.post('/v1/dags/:name/schedules', async (request: DagRequest, reply) => {
    const body = parseOr(createScheduleSchema, request.body, 'BAD_REQUEST');
    const dagName = dagNameOf(request);
    reply.code(201);
    const created = await once<ListedAnswer>(request, parts, {
      target: dagName,
      body,
      make: async () => {
        await create(request, dagName, [body]);
        return show(request, dagName, body.name);
      },
    });
    return { ...created, ...warningsOf(request.body) };
  });

  app.get('/v1/dags/:name/schedules/:schedule', (request: ScheduleRequest) =>
    show(request, dagNameOf(request), scheduleNameOf(request)),
  );

  app.put('/v1/dags/:name/schedules/:schedule', async (request: ScheduleRequest) => {
    const body = parseOr(editScheduleSchema, request.body, 'BAD_REQUEST');
    const [dagName, name] = [dagNameOf(request), scheduleNameOf(request)];
    const edited = await once<ListedAnswer>(request, parts, {
      target: `${dagName}/${name}`,
      body,
      make: async () => {
        const place = await placeOfDag(request, dagName);
        const [spec] = await specsOf(request, dagName, place, [body]);
        await ask(request, dagName, place, { kind: 'EditSchedule', name, spec: spec! });
        return show(request, dagName, name);
      },
    });
    return { ...edited, ...warningsOf(request.body) };
  });

  app.delete('/v1/dags/:name/schedules/:schedule', async (request: ScheduleRequest) => {
    const [dagName, name] = [dagNameOf(request), scheduleNameOf(request)];
    return once<ScheduleDeleted>(request, parts, {
      target: `${dagName}/${name}`,
      make: async (_, again) => {
        const place = await placeOfDag(request, dagName);
        await ask(request, dagName, place, { kind: 'DeleteSchedule', name }).catch((error: unknown) => {
          // An earlier request with this key was cut off after it had deleted the schedule.
          const isGone = error instanceof SignalboxError && error.code === 'SCHEDULE_NOT_FOUND';
          if (!again || !isGone) throw error;
        });
        return { dag: dagName, name, deleted: true };
      },
    });
  });

  for (const [verb, paused] of [['pause', true] as const, ['resume', false] as const]) {
    app.post(`/v1/dags/:name/schedules/:schedule/${verb}`, async (request: ScheduleRequest) => {
      const [dagName, name] = [dagNameOf(request), scheduleNameOf(request)];
      return once<ListedAnswer>(request, parts, {
        target: `${dagName}/${name}`,
        make: async () => {
          const place = await placeOfDag(request, dagName);
          await ask(request, dagName, place, { kind: 'SetSchedulePaused', name, paused });
          return show(request, dagName, name);
        },
      });
    });

    /** All schedules of the dag. */
    app.post(`/v1/dags/:name/schedule/${verb}`, async (request: DagRequest) => {
      const name = dagNameOf(request);
      return once<SchedulePaused>(request, parts, {
        target: name,
        make: async () => {
          await ask(request, name, await placeOfDag(request, name), { kind: 'SetSchedulePaused', paused });
          return { name, paused };
        },
      });
    });
  }

  async function create(request: FastifyRequest, dag: string, schedules: readonly Named[]): Promise<void> {
    const place = await placeOfDag(request, dag);
    const specs = await specsOf(request, dag, place, schedules);
    const named = schedules.map(({ name }, no): NamedSchedule => ({ name, spec: specs[no]! }));
    await ask(request, dag, place, { kind: 'CreateSchedules', schedules: named });
  }

  async function show(request: FastifyRequest, dagName: string, name: string): Promise<ListedAnswer> {
    const { tenantId } = callerOf(request);
    const found = await fromDatabase(() => queries.findSchedule(tenantId, { dagName, name }), request.log);
    if (found !== null) return listedAnswer(found);
    await placeOfDag(request, dagName);
    throw new SignalboxError('SCHEDULE_NOT_FOUND', { dag: dagName, reason: name });
  }

  async function placeOfDag(request: FastifyRequest, dag: string): Promise<DagPlace> {
    const { tenantId } = callerOf(request);
    const place = await fromDatabase(() => dags.find(tenantId, dag), request.log);
    if (place === null) throw new SignalboxError('DAG_NOT_FOUND', { dag });
    return place;
  }

  /** With params as text, checked against the schema of the dag and filled with its defaults. */
  async function specsOf(
    request: FastifyRequest,
    dag: string,
    place: DagPlace,
    schedules: readonly ParsedNewSchedule[],
  ): Promise<ScheduleSpec[]> {
    const isCritical = schedules.some(({ priority }) => priority === 'critical');
    await guardCritical(request, parts, { isCritical, target: dag });
    const texts = schedules.map(({ params }) => (params === undefined ? null : JSON.stringify(params)));
    const items = texts.map((params) => ({ params, priority: null }));
    const { items: checked } = await checkerOf(request, parts, dag, items)(place);
    // One that says nothing about params goes by the defaults of each version.
    const now = systemClock.wall();
    return schedules.map((schedule, no) => {
      const params = texts[no] === null ? null : (checked[no]?.params ?? null);
      return toScheduleSpec(resolveAfter(schedule, now), params) as ScheduleSpec;
    });
  }

  async function ask(request: FastifyRequest, dag: string, place: DagPlace, wish: Wish): Promise<void> {
    const { tenantId, actor } = callerOf(request);
    const { shard, dagId } = place;
    const command = { ...wish, shard, dagId, tenantId, actor } as Command;
    answerOf(await main.command(command, parts.leftMs(request)), 'done', { dag });
  }
}

type Named = ParsedNewSchedule & { readonly name: string };
type OfDag = { readonly shard: ShardNo; readonly dagId: DagId; readonly tenantId: unknown; readonly actor: unknown };
type ScheduleCommand = Extract<
  Command,
  { kind: 'CreateSchedules' | 'EditSchedule' | 'DeleteSchedule' | 'SetSchedulePaused' }
>;
type Wish = ScheduleCommand extends infer C ? (C extends ScheduleCommand ? Omit<C, keyof OfDag> : never) : never;

function refusalOrThrow(error: unknown): SignalboxError {
  if (error instanceof SignalboxError && error.code !== 'UNKNOWN_OUTCOME') return error;
  throw error;
}

function scheduleNameOf(request: ScheduleRequest): string {
  const parsed = nameSchema.safeParse(request.params.schedule);
  if (!parsed.success) throw badRequest('schedule', parsed.error.issues[0]?.message ?? 'is not a name');
  return parsed.data;
}

/** A cursor is the dag and the number of the last one. */
function placeOf(cursor: string): { dagName: string; scheduleNo: number } {
  const [dagName = '', scheduleNo] = cursor.split('/');
  // One from before dags had several schedules names the dag alone.
  return {
    dagName,
    scheduleNo: scheduleNo === undefined ? 2_147_483_647 : Math.min(Number(scheduleNo), 2_147_483_647),
  };
}

function listedAnswer(schedule: ListedSchedule): ListedAnswer {
  const { dagName: dag, origin, revision, setBy, setAt, fired } = schedule;
  return { dag, ...scheduleAnswer(schedule), origin, revision, setBy, setAt: toIso(setAt), fired };
}
