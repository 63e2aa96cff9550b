/** Resolves which run the user means. */
import type { Client, RunPage } from '@signalbox/sdk';
import { EXIT } from './exit-codes.ts';
import { CliError } from './problem.ts';
import { next } from './program-name.ts';

/** How many pages are searched for a run of the caller: a page may be empty although older ones have some. */
const PAGES_SEARCHED = 5;

/**
 * `last` is the last run that this caller made: a run that a schedule or somebody else made a moment later must not be cancelled in its
 * place. The newest run of all counts only when the caller has made none.
 */
export async function resolveRun(client: Pick<Client, 'listRuns'>, given: string): Promise<string> {
  if (given !== 'last') return given;
  const newest = (await lastOwn(client)) ?? (await client.listRuns({ limit: 1 })).items[0];
  if (newest !== undefined) return newest.id;
  throw new CliError('There are no runs yet.', `Start one: ${next('runs trigger hello --wait')}`, EXIT.refused);
}

async function lastOwn(client: Pick<Client, 'listRuns'>): Promise<RunPage['items'][number] | undefined> {
  let cursor: string | null | undefined;
  for (let page = 0; page < PAGES_SEARCHED && cursor !== null; page++) {
    const found: RunPage = await client.listRuns({ mine: true, limit: 1, ...(cursor && { cursor }) });
    if (found.items[0] !== undefined) return found.items[0];
    cursor = found.cursor;
  }
  return undefined;
}
