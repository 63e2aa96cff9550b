/** Which run is meant. */
import type { Client } from '@signalbox/sdk';
import { EXIT } from './exit-codes.ts';
import { CliError } from './problem.ts';
import { next } from './program-name.ts';

/** `last` is the newest one, which is what one wants to see just after it was made. */
export async function resolveRun(client: Pick<Client, 'listRuns'>, given: string): Promise<string> {
  if (given !== 'last') return given;
  const [newest] = (await client.listRuns({ limit: 1 })).items;
  if (newest !== undefined) return newest.id;
  throw new CliError('There are no runs yet.', `Make one: ${next('runs trigger hello --wait')}`, EXIT.refused);
}
