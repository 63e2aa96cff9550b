/** `signalbox backfill` and `signalbox backfills …`. */

import { setTimeout as pause } from 'node:timers/promises';
import type { BackfillPreview, BackfillView, NewBackfill } from '@signalbox/protocol';
import { counted } from '@signalbox/protocol';
import type { Client } from '@signalbox/sdk';
import { type ClientFlags, connect, type PageFlags } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { onInterrupt } from '../interrupt.ts';
import { coloured, colours, isLive, print, printJson, spanText, table } from '../output.ts';
import { CliError } from '../problem.ts';
import { next } from '../program-name.ts';
import { bar } from './bar.ts';

export interface BackfillFlags extends ClientFlags {
  readonly from?: string;
  readonly to?: string;
  readonly schedule?: string;
  readonly failed?: boolean;
  readonly all?: boolean;
  readonly backwards?: boolean;
  readonly until?: string;
  readonly maxActive?: number;
  readonly share?: number;
  readonly dryRun?: boolean;
  readonly wait?: boolean;
}
export interface ListBackfillsFlags extends PageFlags {
  readonly dag?: string;
}
export interface CancelBackfillFlags extends ClientFlags {
  readonly runs?: boolean;
}

const LOOK_EVERY_MS = 1_000;

export async function backfill(dag: string, flags: BackfillFlags): Promise<void> {
  const asked = askedFor(flags);
  const client = await connect(flags);
  if (flags.dryRun) return showPreview(await client.previewBackfill(dag, asked), flags);
  const started = await client.startBackfill(dag, asked);
  if (flags.wait) return follow(client, started, flags);
  if (flags.json) return printJson(started);
  print(`backfill ${colours.bold(started.id)} of ${counted(started.windows, 'window')}`);
  print(colours.dim(`follow it with: ${next(`backfills watch ${started.id}`)}`));
}

function askedFor(flags: BackfillFlags): NewBackfill {
  const { from, to, schedule, until, maxActive, share } = flags;
  if (from === undefined)
    throw new CliError('A backfill needs its first window.', 'Pass --from, such as --from 2027-03-01.', EXIT.usage);
  if (flags.failed && flags.all)
    throw new CliError('--failed and --all exclude each other.', 'Pass one of them.', EXIT.usage);
  return {
    from: instantText('--from', from),
    ...(to === undefined ? {} : { to: instantText('--to', to) }),
    ...(schedule === undefined ? {} : { schedule }),
    which: flags.failed ? 'failed' : flags.all ? 'all' : 'missing',
    order: flags.backwards ? 'backward' : 'forward',
    ...(until === undefined ? {} : { until }),
    ...(maxActive === undefined ? {} : { maxActive }),
    ...(share === undefined ? {} : { share }),
  };
}

/** A day alone is its beginning in UTC. */
export function instantText(flag: string, text: string): string {
  const at = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  const isWhole = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  if (isWhole && !Number.isNaN(at.getTime())) return at.toISOString();
  throw new CliError(
    `${flag} is "${text}".`,
    'Give a day, or a time with its offset, such as 2027-03-01T06:00:00Z.',
    EXIT.usage,
  );
}

function showPreview(preview: BackfillPreview, flags: ClientFlags): void {
  if (flags.json) return printJson(preview);
  const words = { create: 'create a run', again: 'run again', skip: 'skip' } as const;
  const rows = preview.items.map(({ at, action, outcome, run }) => {
    const newest = run === null ? '' : `${run} ${coloured(outcome ?? 'running')}`;
    return [at, words[action], newest];
  });
  if (rows.length > 0) print(table(['window', 'action', 'newest run'], rows));
  print(`${counted(preview.windows, 'window')}, ${counted(preview.toCreate, 'run')} to create. Nothing was created.`);
}

export async function listBackfills(flags: ListBackfillsFlags): Promise<void> {
  const { dag, limit, cursor } = flags;
  const client = await connect(flags);
  const page = await client.listBackfills({
    limit,
    ...(dag === undefined ? {} : { dag }),
    ...(cursor === undefined ? {} : { cursor }),
  });
  if (flags.json) return printJson(page);
  const rows = page.items.map((one) => [
    one.id,
    one.dag,
    coloured(one.state),
    `${one.decided}/${one.windows}`,
    one.runs.failed === 0 ? '' : String(one.runs.failed),
    one.startedAt,
  ]);
  if (rows.length > 0) print(table(['backfill', 'dag', 'state', 'windows', 'failed', 'started'], rows));
  else print(`no backfills; start one with: ${next('backfill <dag> --from <day>')}`);
  if (page.cursor !== null) print(colours.dim(`next page: --cursor ${page.cursor}`));
}

export async function showBackfill(id: string, flags: ClientFlags): Promise<void> {
  const found = await (await connect(flags)).getBackfill(id);
  if (flags.json) return printJson(found);
  show(found);
}

function show(one: BackfillView): void {
  const { dag, schedule, which, order, until, runs } = one;
  print(`backfill ${colours.bold(one.id)} ${coloured(one.state)}${one.reason === null ? '' : `: ${one.reason}`}`);
  print(`${dag}, schedule ${schedule}: ${which} windows from ${one.from} to ${one.to}, ${order}`);
  if (until !== null) print(`runs go up to ${until}`);
  print(lineOf(one));
  print(
    `at most ${counted(one.maxActive, 'run')} at a time, ${Math.round(one.share * 1_000) / 10} % while other work waits`,
  );
  if (runs.failed > 0)
    print(colours.dim(`see what failed: ${next(`runs list --backfill ${one.id} --outcome failed`)}`));
}

export async function watchBackfill(id: string, flags: ClientFlags): Promise<void> {
  const client = await connect(flags);
  await follow(client, await client.getBackfill(id), flags);
}

export async function setBackfill(verb: 'pause' | 'resume', id: string, flags: ClientFlags): Promise<void> {
  const client = await connect(flags);
  const changed = verb === 'pause' ? await client.pauseBackfill(id) : await client.resumeBackfill(id);
  if (flags.json) return printJson(changed);
  show(changed);
}

export async function cancelBackfill(id: string, flags: CancelBackfillFlags): Promise<void> {
  const cancelled = await (await connect(flags)).cancelBackfill(id, { runs: flags.runs ?? false });
  if (flags.json) return printJson(cancelled);
  show(cancelled);
}

/** A bar on a terminal; elsewhere a line whenever something has changed. */
async function follow(client: Client, started: BackfillView, flags: ClientFlags): Promise<void> {
  const told = () => print(`\nThe backfill continues. Follow it with: ${next(`backfills watch ${started.id}`)}`);
  const { signal } = onInterrupt(flags.json ? () => {} : told);
  let [now, shown] = [started, ''];
  for (;;) {
    const line = lineOf(now);
    if (!flags.json && line !== shown) {
      if (isLive) process.stdout.write(`\r\x1b[K${line}`);
      else print(line);
      shown = line;
    }
    if (now.endedAt !== null || signal.aborted) break;
    await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) now = await client.getBackfill(started.id);
  }
  if (isLive && !flags.json) print('');
  if (flags.json) printJson(now);
  else if (now.endedAt !== null) show(now);
  if (now.state !== 'ended' || now.runs.failed > 0 || now.runs.cancelled > 0) process.exitCode = 1;
}

function lineOf(one: BackfillView): string {
  const { windows, decided, runs } = one;
  const finished = decided - runs.active;
  const counts = [`${finished}/${counted(windows, 'window')}`, `${runs.active} running`, `${runs.succeeded} succeeded`];
  if (runs.failed > 0) counts.push(colours.red(`${runs.failed} failed`));
  if (one.skipped > 0) counts.push(`${one.skipped} skipped`);
  const leftMs = one.estimatedEndAt === null ? null : Math.max(0, Date.parse(one.estimatedEndAt) - Date.now());
  if (leftMs !== null) counts.push(`about ${spanText(leftMs)} left`);
  return `${bar(windows === 0 ? 1 : finished / windows)} ${counts.join(', ')}`;
}
