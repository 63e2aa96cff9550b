/**
 * Dead letters over REST. Each is used once, by a commit of its owner (I43). Replaying many is done in bounded requests. If
 * one is interrupted, the next continues, because replayed letters are no longer open.
 */
import { fingerprintText, isOwnRunId, parseFingerprint, type ShardNo, shardOfUid } from '@signalbox/engine';
import {
  type DeadLetterDetails,
  type DeadLetterGroups,
  type DeadLetterPage,
  type DeadLettersUsed,
  type DeadLetterView,
  deadLetterIdSchema,
  discardDeadLettersSchema,
  listDeadLetterGroupsSchema,
  listDeadLettersSchema,
  parseOr,
  replayDeadLetterSchema,
  replayDeadLettersSchema,
  SignalboxError,
} from '@signalbox/protocol';
import { type DeadLetterCursor, type DeadLetterFilter, type DeadLetterRow } from '@signalbox/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toIso } from '../iso-instants.ts';
import { answerOf, badRequest, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import { once } from './once.ts';
import type { RestParts } from './rest-parts.ts';
import { submitTo } from './submit.ts';
import { runAnswer, tasksOf } from './views.ts';

type DeadLetterRequest = FastifyRequest<{ Params: { letter: string } }>;

export function deadLetterRoutes(app: FastifyInstance, parts: RestParts): void {
  const { queries } = parts;

  app.get('/v1/dead-letters', async (request) => {
    const { tenantId } = callerOf(request);
    const { cursor, limit, state, ...filter } = parseOr(listDeadLettersSchema, request.query, 'BAD_REQUEST');
    const list = { ...filterOf(filter), state, before: readCursor(cursor), limit };
    const found = await fromDatabase(() => queries.listDeadLetters(tenantId, list), request.log);
    return { items: found.map(deadLetterView), cursor: cursorAfter(found, limit) } satisfies DeadLetterPage;
  });

  app.get('/v1/dead-letters/groups', async (request) => {
    const { tenantId } = callerOf(request);
    const { dag, limit } = parseOr(listDeadLetterGroupsSchema, request.query, 'BAD_REQUEST');
    const found = await fromDatabase(
      () => queries.groupDeadLetters(tenantId, { dagName: dag ?? null, limit }),
      request.log,
    );
    const items = found.map(({ fingerprint, firstAt, lastAt, dags, ...group }) => ({
      ...group,
      fingerprint: fingerprintText(fingerprint),
      firstAt: toIso(firstAt),
      lastAt: toIso(lastAt),
      dags: dags.map(({ versions, ...dagOf }) => ({ ...dagOf, versions: [...versions] })),
    }));
    return { items } satisfies DeadLetterGroups;
  });

  app.get('/v1/dead-letters/:letter', async (request: DeadLetterRequest) => {
    const letter = await findDeadLetter(request, parts);
    const { tenantId } = callerOf(request);
    const run = await fromDatabase(() => queries.getRun(tenantId, letter.uid, () => [letter.taskNo]), request.log);
    const params = await fromDatabase(
      () => queries.getPayload(tenantId, { uid: letter.uid, taskNo: null }),
      request.log,
    );
    const read = run === null ? undefined : tasksOf(run);
    // Its map may have been removed since: then nothing of it is shown.
    const spec = read?.names.specOf(letter.taskNo) ?? null;
    const nothing = { params: null, outputs: new Map() };
    const task = run === null || spec === null ? undefined : runAnswer(run, nothing, read, [letter.taskNo]).tasks[0];
    const needs = (spec === null ? undefined : run?.spec.tasks[spec]?.needs) ?? [];
    return {
      ...deadLetterView(letter),
      params: params === null ? null : (JSON.parse(params) as unknown),
      inputs: needs.flatMap((no) => run?.spec.tasks[no]?.name ?? []),
      attempts: (task?.attempts ?? []).filter(({ attempt }) => attempt <= letter.attemptNo),
      log: `/v1/runs/${letter.uid}/tasks/${encodeURIComponent(letter.taskName)}/attempts/${letter.attemptNo}/log`,
    } satisfies DeadLetterDetails;
  });

  app.post('/v1/dead-letters/:letter/replay', async (request: DeadLetterRequest) => {
    const { latest, dryRun } = parseOr(replayDeadLetterSchema, request.body ?? {}, 'BAD_REQUEST');
    const letter = await findDeadLetter(request, parts);
    if (dryRun) return preview([letter], latest);
    return once<DeadLettersUsed>(request, parts, {
      target: idOf(letter),
      body: { latest },
      make: async (_key, again) => {
        await replay(request, parts, letter, latest).catch((error: unknown) => {
          const isDone = again && error instanceof SignalboxError && error.code === 'DEAD_LETTER_CLOSED';
          if (!isDone) throw error;
        });
        return { ...preview([letter], latest), dryRun: false };
      },
    });
  });

  app.post('/v1/dead-letters/:letter/discard', async (request: DeadLetterRequest) => {
    const letter = await findDeadLetter(request, parts);
    return once<DeadLetterView>(request, parts, {
      target: idOf(letter),
      make: async (_key, again) => {
        const count = await discard(request, parts, letter.shard, [letter]);
        if (count === 0 && !again)
          throw new SignalboxError('DEAD_LETTER_CLOSED', { letter: idOf(letter), reason: letter.state });
        return deadLetterView(await findDeadLetter(request, parts));
      },
    });
  });

  app.post('/v1/dead-letters/replay', async (request) => {
    const { latest, dryRun, cursor, limit, ...filter } = parseOr(
      replayDeadLettersSchema,
      request.body ?? {},
      'BAD_REQUEST',
    );
    if (dryRun) return previewAll(request, filterOf(filter), latest);
    return once<DeadLettersUsed>(request, parts, {
      target: 'replay',
      body: request.body,
      make: () =>
        useMany(request, { filter: filterOf(filter), after: readCursor(cursor), limit }, async (letters) => {
          const refused: DeadLettersUsed['refused'] = [];
          for (const letter of letters) {
            await replay(request, parts, letter, latest).catch((error: unknown) =>
              refused.push(refusal(letter, error)),
            );
          }
          return { refused, newRuns: latest };
        }),
    });
  });

  app.post('/v1/dead-letters/discard', async (request) => {
    const { dryRun, cursor, limit, ...filter } = parseOr(discardDeadLettersSchema, request.body ?? {}, 'BAD_REQUEST');
    if (dryRun) return previewAll(request, filterOf(filter), null);
    return once<DeadLettersUsed>(request, parts, {
      target: 'discard',
      body: request.body,
      make: () =>
        useMany(request, { filter: filterOf(filter), after: readCursor(cursor), limit }, async (letters) => {
          for (const [shard, ofShard] of byShard(letters)) await discard(request, parts, shard, ofShard);
          return { refused: [], newRuns: false };
        }),
    });
  });

  async function previewAll(
    request: FastifyRequest,
    filter: DeadLetterFilter,
    latest: boolean | null,
  ): Promise<DeadLettersUsed> {
    const { tenantId } = callerOf(request);
    const counts = await fromDatabase(() => queries.countDeadLetters(tenantId, filter), request.log);
    const count = counts.reduce((sum, { deadLetters }) => sum + deadLetters, 0);
    const dags = counts.map(({ dag, deadLetters, runs }) => ({
      dag,
      letters: deadLetters,
      runs: latest === false ? runs : 0,
      newRuns: latest === true ? deadLetters : 0,
    }));
    return { dryRun: true, count, dags, refused: [], remaining: count, cursor: null };
  }

  interface Many {
    readonly filter: DeadLetterFilter;
    readonly after: DeadLetterCursor | null;
    readonly limit: number;
  }

  /** So many of them, oldest first; how far it came is what the next request begins with. */
  async function useMany(
    request: FastifyRequest,
    { filter, after, limit }: Many,
    use: (
      letters: readonly DeadLetterRow[],
    ) => Promise<Pick<DeadLettersUsed, 'refused'> & { readonly newRuns: boolean }>,
  ): Promise<DeadLettersUsed> {
    const { tenantId } = callerOf(request);
    const letters = await fromDatabase(
      () => queries.walkDeadLetters(tenantId, { ...filter, after, limit }),
      request.log,
    );
    const { refused, newRuns } = await use(letters);
    const used = letters.filter((letter) => !refused.some((one) => one.letter === idOf(letter)));
    const left = await fromDatabase(() => queries.countDeadLetters(tenantId, filter), request.log);
    return {
      ...preview(used, newRuns),
      dryRun: false,
      refused,
      remaining: left.reduce((sum, { deadLetters: count }) => sum + count, 0),
      cursor: cursorAfter(letters, limit),
    };
  }
}

async function findDeadLetter(request: DeadLetterRequest, { queries }: RestParts): Promise<DeadLetterRow> {
  const { tenantId } = callerOf(request);
  const id = parseOr(deadLetterIdSchema, request.params.letter, 'BAD_REQUEST');
  const [uid = '', taskNo, attemptNo] = id.toLowerCase().split('.');
  const shard = isOwnRunId(uid)
    ? await fromDatabase(() => queries.shardOfOwnRunId(tenantId, uid), request.log)
    : shardIn(uid);
  const key = { shard, uid, taskNo: Number(taskNo), attemptNo: Number(attemptNo) };
  const isPossible = key.shard !== null && key.taskNo < 2 ** 31 && key.attemptNo < 2 ** 31;
  const found = isPossible
    ? await fromDatabase(() => queries.findDeadLetter(tenantId, { ...key, shard: key.shard as ShardNo }), request.log)
    : null;
  if (found === null) throw new SignalboxError('DEAD_LETTER_NOT_FOUND', { letter: id });
  return found;
}

function shardIn(uid: string): ShardNo | null {
  const shard = shardOfUid(uid as Parameters<typeof shardOfUid>[0]);
  return shard >= 0 && shard < 64 ? shard : null;
}

/** Another attempt in its run; or a new run, with the params that the old one had. */
async function replay(
  request: FastifyRequest,
  parts: RestParts,
  letter: DeadLetterRow,
  latest: boolean,
): Promise<void> {
  const { tenantId, actor } = callerOf(request);
  const { runId, taskNo, attemptNo, dagName } = letter;
  const ref = { runId, taskNo, attemptNo };
  const about = { letter: idOf(letter), task: letter.taskName, run: letter.uid };
  if (!latest) {
    const command = { kind: 'ReplayDeadLetter', tenantId, deadLetter: ref, actor } as const;
    answerOf(await parts.main.command(command, parts.leftMs(request)), 'done', about);
    return;
  }
  const params = await fromDatabase(
    () => parts.queries.getPayload(tenantId, { uid: letter.uid, taskNo: null }),
    request.log,
  );
  const place = await fromDatabase(() => parts.dags.find(tenantId, dagName), request.log);
  if (place === null) throw new SignalboxError('DAG_NOT_FOUND', { dag: dagName });
  await submitTo(request, parts, { name: dagName, place, params, key: null, cause: 'api', replays: ref }, about);
}

async function discard(
  request: FastifyRequest,
  parts: RestParts,
  shard: ShardNo,
  letters: readonly DeadLetterRow[],
): Promise<number> {
  const { tenantId, actor } = callerOf(request);
  const refs = letters.map(({ runId, taskNo, attemptNo }) => ({ runId, taskNo, attemptNo }));
  const command = { kind: 'CloseDeadLetters', shard, tenantId, deadLetters: refs, as: 'discarded', actor } as const;
  return answerOf(await parts.main.command(command, parts.leftMs(request)), 'closed', {}).count;
}

function byShard(letters: readonly DeadLetterRow[]): Map<ShardNo, DeadLetterRow[]> {
  const found = new Map<ShardNo, DeadLetterRow[]>();
  for (const letter of letters) found.set(letter.shard, [...(found.get(letter.shard) ?? []), letter]);
  return found;
}

/** What is asked for too late, or whose outcome nobody knows, ends the whole request: the next one looks again. */
function refusal(letter: DeadLetterRow, error: unknown): DeadLettersUsed['refused'][number] {
  const isRefusal = error instanceof SignalboxError && !ENDS_ALL.has(error.code);
  if (!isRefusal) throw error;
  return { letter: idOf(letter), code: error.code, message: error.message };
}

const ENDS_ALL: ReadonlySet<string> = new Set(['UNKNOWN_OUTCOME', 'UNAVAILABLE', 'OVERLOADED', 'LOAD_SHED']);

function preview(letters: readonly DeadLetterRow[], latest: boolean): DeadLettersUsed {
  const names = [...new Set(letters.map(({ dagName }) => dagName))].sort();
  const dags = names.map((dag) => {
    const own = letters.filter(({ dagName }) => dagName === dag);
    const runs = latest ? 0 : new Set(own.map(({ uid }) => uid)).size;
    return { dag, letters: own.length, runs, newRuns: latest ? own.length : 0 };
  });
  return { dryRun: true, count: letters.length, dags, refused: [], remaining: letters.length, cursor: null };
}

function idOf({ uid, taskNo, attemptNo }: Pick<DeadLetterRow, 'uid' | 'taskNo' | 'attemptNo'>): string {
  return `${uid}.${taskNo}.${attemptNo}`;
}

interface Filter {
  readonly dag?: string | undefined;
  readonly fingerprint?: string | undefined;
  readonly task?: string | undefined;
  readonly reason?: DeadLetterRow['reason'] | undefined;
}

function filterOf({ dag, fingerprint, task, reason }: Filter): DeadLetterFilter {
  return {
    dagName: dag ?? null,
    fingerprint: fingerprint === undefined ? null : parseFingerprint(fingerprint),
    taskName: task ?? null,
    reason: reason ?? null,
  };
}

function readCursor(cursor: string | undefined): DeadLetterCursor | null {
  if (cursor === undefined) return null;
  const numbers = /^(\d{1,15})\.(\d{1,16})\.(\d{1,10})\.(\d{1,10})$/.exec(cursor)?.slice(1).map(Number);
  const [at, runId, taskNo, attemptNo] = numbers ?? [];
  if (
    at === undefined ||
    runId === undefined ||
    taskNo === undefined ||
    attemptNo === undefined ||
    taskNo >= 2 ** 31 ||
    attemptNo >= 2 ** 31
  ) {
    throw badRequest('cursor', 'is not a cursor from a page');
  }
  return { at, runId, taskNo, attemptNo };
}

function cursorAfter(letters: readonly DeadLetterRow[], limit: number): string | null {
  const last = letters.at(-1);
  if (last === undefined || letters.length < limit) return null;
  return `${last.at}.${last.runId}.${last.taskNo}.${last.attemptNo}`;
}

function deadLetterView(letter: DeadLetterRow): DeadLetterView {
  return {
    id: idOf(letter),
    run: letter.uid,
    dag: letter.dagName,
    version: letter.versionNo,
    task: letter.taskName,
    attempt: letter.attemptNo,
    reason: letter.reason,
    outcome: letter.outcome,
    code: letter.code,
    fingerprint: fingerprintText(letter.fingerprint),
    error: letter.error,
    at: toIso(letter.at),
    state: letter.state,
    closedAt: letter.closedAt === null ? null : toIso(letter.closedAt),
    closedBy: letter.closedBy,
    newRun: letter.newUid,
  };
}
