/** The runs that a filter selects, a page at a time, newest first: for what is done to many runs at once. */
import type { Answer, Command } from '@signalbox/engine';
import { type RunFilter, SignalboxError } from '@signalbox/protocol';
import type { DagView, RunView } from '@signalbox/store';
import type { FastifyRequest } from 'fastify';
import { fromIso } from '../iso-instants.ts';
import { answerOf, fromDatabase } from './errors.ts';
import { callerOf } from './guards.ts';
import type { RestParts } from './rest-parts.ts';
import { cursorOf, cursorText } from './runs.ts';
import { stateOf } from './views.ts';

const RUNS_AT_ONCE = 100;

export interface FilteredRuns {
  readonly runs: readonly { readonly run: RunView; readonly state: 'queued' | 'open' }[];
  readonly cursor: string | null;
}

/** Those that have failed. */
export async function failedRuns(
  request: FastifyRequest,
  parts: RestParts,
  filter: RunFilter,
): Promise<{ readonly runs: readonly RunView[]; readonly cursor: string | null }> {
  return page(request, parts, filter, 'failed');
}

async function page(request: FastifyRequest, parts: RestParts, filter: RunFilter, listed: 'open' | 'failed') {
  const { tenantId } = callerOf(request);
  const { dag: dagName, cursor, limit = RUNS_AT_ONCE } = filter;
  const isWanted = await wanted(request, parts, filter);
  const list = { dagName, state: listed, before: cursorOf(cursor), limit } as const;
  const { runs, next } = await fromDatabase(() => parts.queries.listRuns(tenantId, list), request.log);
  const isPast = runs.length > 0 && runs.every(({ createdAt }) => createdAt < sinceOf(filter));
  return { runs: runs.filter(isWanted), cursor: next === null || isPast ? null : cursorText(next) };
}

export async function filteredRuns(
  request: FastifyRequest,
  parts: RestParts,
  filter: RunFilter,
): Promise<FilteredRuns> {
  const { runs, cursor } = await page(request, parts, filter, 'open');
  return {
    runs: runs.flatMap((run) => {
      const state = stateOf(run);
      return state === 'queued' || state === 'open' ? [{ run, state }] : [];
    }),
    cursor,
  };
}

/** Null when it is done. A run that has ended since it was listed is refused, and the same is done to the others. */
export async function tryCommand(
  request: FastifyRequest,
  parts: RestParts,
  command: Command,
  kind: Extract<Answer, { ok: true }>['kind'],
): Promise<string | null> {
  try {
    answerOf(await parts.main.command(command, parts.leftMs(request)), kind, {});
    return null;
  } catch (error) {
    if (!(error instanceof SignalboxError) || error.body().status >= 500) throw error;
    return error.code;
  }
}

const sinceOf = ({ since }: RunFilter): number => (since === undefined ? 0 : fromIso(since));

async function wanted(
  request: FastifyRequest,
  parts: RestParts,
  filter: RunFilter,
): Promise<(run: RunView) => boolean> {
  const { dag, tag, state, priority, concurrencyKey: key, until } = filter;
  const { tenantId } = callerOf(request);
  const named = dag === undefined ? true : await fromDatabase(() => parts.queries.findDag(tenantId, dag), request.log);
  if (named === null) throw new SignalboxError('DAG_NOT_FOUND', { dag: dag ?? '' });
  const tagged = tag === undefined ? null : await dagsWithTag(request, parts, tag);
  const [from, to] = [sinceOf(filter), until === undefined ? Number.MAX_VALUE : fromIso(until)];
  return (run) =>
    (tagged === null || tagged.has(run.dagName)) &&
    (state === undefined || stateOf(run) === state) &&
    (priority === undefined || run.priority === priority) &&
    (key === undefined || run.notes.key === key) &&
    run.createdAt >= from &&
    run.createdAt < to;
}

const DAGS_PER_PAGE = 500;

/** Also those that take no new runs. */
async function dagsWithTag(request: FastifyRequest, { queries }: RestParts, tag: string): Promise<ReadonlySet<string>> {
  const { tenantId } = callerOf(request);
  const names = new Set<string>();
  let after: string | null = null;
  for (;;) {
    const page = { tag, retired: true, after, limit: DAGS_PER_PAGE };
    const found: readonly DagView[] = await fromDatabase(() => queries.listDags(tenantId, page), request.log);
    for (const { name } of found) names.add(name);
    if (found.length < DAGS_PER_PAGE) return names;
    after = found.at(-1)?.name ?? null;
  }
}
