/** After a refusal for an unknown name: asks the server which names there are, and suggests the closest. */
import type { Client } from '@signalbox/sdk';
import { lastClient } from './connection.ts';
import { argumentOf, type CurrentCommand, currentCommand } from './current-command.ts';
import { didYouMean } from './suggest.ts';

const PAGE = 100;
const MOST_PAGES = 10;

/** Null when nothing is close, or nobody can say: an error must not be followed by another one. */
export async function suggestionFor(code: string | null): Promise<string | null> {
  const command = currentCommand();
  const client = lastClient();
  if (command === null || client === null) return null;
  try {
    if (code === 'DAG_NOT_FOUND') return await suggestDag(client, command);
    if (code === 'TASK_NOT_FOUND') return await suggestTask(client, command);
    return null;
  } catch {
    return null;
  }
}

async function suggestDag(client: Client, command: CurrentCommand): Promise<string | null> {
  const { dag } = command.flags as { readonly dag?: string };
  const word = argumentOf(command, 'dag') ?? dag;
  return word === undefined ? null : didYouMean(word, await dagNames(client));
}

async function dagNames(client: Client): Promise<string[]> {
  const names: string[] = [];
  for (let cursor: string | null = null, page = 0; page < MOST_PAGES; page++) {
    const found: Awaited<ReturnType<Client['listDags']>> = await client.listDags({
      limit: PAGE,
      ...(cursor === null ? {} : { cursor }),
    });
    names.push(...found.items.map(({ name }) => name));
    ({ cursor } = found);
    if (cursor === null) break;
  }
  return names;
}

/** Of a run its own tasks; of a dag those of its current version. The server does not say which of several is unknown. */
async function suggestTask(client: Client, command: CurrentCommand): Promise<string | null> {
  const run = argumentOf(command, 'run');
  const dag = argumentOf(command, 'dag');
  const names = await taskNames(client, run, dag);
  const { until } = command.flags as { readonly until?: unknown };
  const given = [
    ...command.args.filter((arg) => arg !== run && arg !== dag),
    ...(typeof until === 'string' ? [until] : []),
  ];
  const unknown = given.find((word) => !names.includes(word));
  return unknown === undefined ? null : didYouMean(unknown, names);
}

async function taskNames(client: Client, run: string | undefined, dag: string | undefined): Promise<string[]> {
  if (run !== undefined) {
    const { resolveRun } = await import('./run-id.ts');
    return (await client.getRun(await resolveRun(client, run))).tasks.map(({ name }) => name);
  }
  return dag === undefined ? [] : (await client.getDag(dag)).tasks.map(({ name }) => name);
}
