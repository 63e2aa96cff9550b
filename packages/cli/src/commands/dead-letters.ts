/** `signalbox dead-letters`. */
import { counted } from '@signalbox/protocol';
import type { Client } from '@signalbox/sdk';
import { type ClientFlags, connect, type PageFlags } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { coloured, colours, plain, plainLines, print, printJson, short, table } from '../output.ts';
import { CliError } from '../problem.ts';
import { next } from '../program-name.ts';
import { knownDag } from './known-dag.ts';

type DeadLetterFilter = NonNullable<Parameters<Client['listDeadLetters']>[0]>;
type DeadLettersUsed = Awaited<ReturnType<Client['replayDeadLetters']>>;

export interface DeadLetterListFlags extends PageFlags {
  readonly dag?: string;
  readonly fingerprint?: string;
  readonly task?: string;
  readonly reason?: NonNullable<DeadLetterFilter['reason']>;
  readonly state?: NonNullable<DeadLetterFilter['state']>;
}

export interface UseFlags extends ClientFlags {
  readonly dag?: string;
  readonly fingerprint?: string;
  readonly task?: string;
  readonly latest?: boolean;
  readonly dryRun?: boolean;
}

export async function listDeadLetters(flags: DeadLetterListFlags): Promise<void> {
  const { dag, fingerprint, task, reason, state, limit, cursor } = flags;
  const client = await connect(flags);
  const page = await client.listDeadLetters(defined({ dag, fingerprint, task, reason, state, limit, cursor }));
  if (page.items.length === 0) await knownDag(client, dag);
  if (flags.json) return printJson(page);
  if (page.items.length === 0) return print('no dead letters');
  const rows = page.items.map((letter) => [
    letter.id,
    `${letter.dag} v${letter.version}`,
    letter.task,
    coloured(letter.state === 'open' ? letter.reason : letter.state),
    letter.fingerprint,
    letter.at,
    short(letter.error ?? '', 50),
  ]);
  print(table(['letter', 'dag', 'task', 'reason', 'fingerprint', 'at', 'error'], rows));
  if (page.cursor !== null) print(colours.dim(`more: --cursor ${page.cursor}`));
}

export async function listGroups(flags: ClientFlags & { readonly dag?: string }): Promise<void> {
  const client = await connect(flags);
  const page = await client.listDeadLetterGroups(defined({ dag: flags.dag }));
  if (page.items.length === 0) await knownDag(client, flags.dag);
  if (flags.json) return printJson(page);
  if (page.items.length === 0) return print('no dead letters');
  const rows = page.items.map((group) => [
    group.fingerprint,
    String(group.count),
    group.firstAt,
    group.lastAt,
    short(group.dags.map(({ dag, versions }) => `${dag} v${versions.join(' v')}`).join(', '), 40),
    short(group.error ?? group.code ?? group.outcome, 60),
  ]);
  print(table(['fingerprint', 'letters', 'first seen', 'last seen', 'dags', 'error'], rows));
  print(colours.dim(`after a fix: ${next('dead-letters replay --fingerprint … --dry-run')}`));
}

export async function showDeadLetter(id: string, flags: ClientFlags): Promise<void> {
  const letter = await (await connect(flags)).getDeadLetter(id);
  if (flags.json) return printJson(letter);
  print(`task ${plain(letter.task)} of ${plain(letter.dag)} v${letter.version}, run ${letter.run}`);
  print(
    `${coloured(letter.state)}: failed at ${letter.at} after ${counted(letter.attempt, 'attempt')}: ${letter.reason}`,
  );
  print(`${letter.outcome}${letter.code === null ? '' : ` ${plain(letter.code)}`}, fingerprint ${letter.fingerprint}`);
  // The dead letter keeps the line that tells; the last attempt has all of the error.
  const whole = letter.attempts.at(-1)?.error ?? letter.error;
  if (whole !== null) print(plainLines(whole));
  print(`params: ${short(JSON.stringify(letter.params), 200)}`);
  if (letter.inputs.length > 0) print(`inputs: outputs of ${letter.inputs.map((name) => plain(name)).join(', ')}`);
  for (const { attempt, outcome, endedAt, error } of letter.attempts) {
    print(`  attempt ${attempt}: ${coloured(outcome ?? 'running')} ${endedAt ?? ''} ${short(firstLine(error), 80)}`);
  }
  print(colours.dim(`log: ${next(`logs ${letter.run} ${letter.task}`)}`));
}

const firstLine = (text: string | null): string => text?.split('\n', 1)[0] ?? '';

export async function replay(id: string | undefined, flags: UseFlags): Promise<void> {
  const client = await connect(flags);
  const choice = { latest: flags.latest === true, dryRun: flags.dryRun === true };
  const used =
    id === undefined
      ? await throughAll(flags, (filter) => client.replayDeadLetters({ ...filter, ...choice }))
      : await client.replayDeadLetter(id, choice);
  report(used, flags, 'replayed');
  if (choice.dryRun && id === undefined && !flags.json && used.count > 0) await printChosen(client, flags, used.count);
}

const PREVIEWED = 20;

/** What would run, the newest first. */
async function printChosen(client: Client, { dag, fingerprint, task }: UseFlags, count: number): Promise<void> {
  const { items } = await client.listDeadLetters(defined({ dag, fingerprint, task, limit: PREVIEWED }));
  const rows = items.map((letter) => [letter.task, letter.run, letter.at, short(letter.error ?? '', 60)]);
  print(table(['task', 'run', 'failed at', 'error'], rows));
  if (count > items.length) print(colours.dim(`and ${count - items.length} more`));
}

export async function discard(id: string | undefined, flags: UseFlags): Promise<void> {
  const client = await connect(flags);
  const { dryRun = false } = flags;
  if (id === undefined) {
    return report(
      await throughAll(flags, (filter) => client.discardDeadLetters({ ...filter, dryRun })),
      flags,
      'discarded',
    );
  }
  if (dryRun) {
    const letter = await client.getDeadLetter(id);
    return flags.json ? printJson(letter) : print(`would discard ${letter.id} (${letter.state})`);
  }
  const letter = await client.discardDeadLetter(id);
  if (flags.json) printJson(letter);
  else print(`${letter.id} is ${letter.state}`);
}

interface Chosen {
  readonly dag?: string;
  readonly fingerprint?: string;
  readonly task?: string;
  readonly cursor?: string;
}

/** Request after request, each as many as one may use; what was done before it was stopped stays done. */
async function throughAll(
  flags: UseFlags,
  use: (filter: Chosen) => Promise<DeadLettersUsed>,
): Promise<DeadLettersUsed> {
  const { dag, fingerprint, task } = flags;
  if (dag === undefined && fingerprint === undefined) {
    throw new CliError('Nothing is selected.', 'Pass the id of a dead letter, --dag or --fingerprint.', EXIT.usage);
  }
  let sum: DeadLettersUsed | null = null;
  for (let cursor: string | null = null; ; ) {
    const used: DeadLettersUsed = await use({
      ...defined({ dag, fingerprint, task }),
      ...(cursor === null ? {} : { cursor }),
    });
    sum = sum === null ? used : added(sum, used);
    ({ cursor } = used);
    if (cursor === null) return sum;
    if (!flags.json) print(colours.dim(`${sum.count} so far, ${used.remaining} left`));
  }
}

function added(sum: DeadLettersUsed, more: DeadLettersUsed): DeadLettersUsed {
  const dags = new Map(sum.dags.map((one) => [one.dag, one]));
  for (const one of more.dags) {
    const known = dags.get(one.dag) ?? { dag: one.dag, letters: 0, runs: 0, newRuns: 0 };
    const { dag } = one;
    const [letters, runs, newRuns] = [known.letters + one.letters, known.runs + one.runs, known.newRuns + one.newRuns];
    dags.set(dag, { dag, letters, runs, newRuns });
  }
  const refused = [...sum.refused, ...more.refused];
  return { ...more, count: sum.count + more.count, dags: [...dags.values()], refused };
}

function report(used: DeadLettersUsed, flags: UseFlags, done: string): void {
  if (flags.json) return printJson(used);
  const verb = used.dryRun ? `would be ${done}` : done;
  if (used.count === 0 && used.refused.length === 0) return print('no open dead letters');
  for (const { dag, letters, runs, newRuns } of used.dags) {
    const what = newRuns > 0 ? ` as ${runsOf(newRuns, 'new ')}` : runs > 0 ? ` in ${runsOf(runs)}` : '';
    print(`${plain(dag)}: ${letters} ${verb}${what}`);
  }
  for (const { letter, message } of used.refused) print(`${letter}: ${plain(message)}`);
  if (used.refused.length > 0) process.exitCode = EXIT.refused;
}

const runsOf = (count: number, kind = '') => `${count} ${kind}${count === 1 ? 'run' : 'runs'}`;

function defined<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
