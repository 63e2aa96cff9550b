/** `signalbox jobs`. */

import type { JobView, NewJob } from '@signalbox/protocol';
import { counted } from '@signalbox/protocol';
import { type ClientFlags, connect, type PageFlags } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { coloured, colours, plain, print, printJson, short, spanBetween, table } from '../output.ts';
import { CliError } from '../problem.ts';
import { next } from '../program-name.ts';
import { instantText } from './backfills.ts';

export interface CreateJobFlags extends ClientFlags {
  readonly run?: string;
  readonly http?: string;
  readonly method?: string;
  readonly task?: string;
  readonly at?: string;
  readonly delay?: string;
  readonly cron?: string;
  readonly every?: string;
  readonly tz?: string;
  readonly params?: unknown;
  readonly inputs?: unknown;
  readonly priority?: NonNullable<NewJob['priority']>;
  readonly queue?: string;
  readonly retries?: string;
  readonly timeout?: string;
  readonly callback?: string;
  readonly name?: string;
  readonly tag?: string;
  readonly owner?: string;
  readonly key?: string;
}

export interface ListJobsFlags extends PageFlags {
  readonly tag?: string;
  readonly owner?: string;
  readonly state?: JobView['state'];
}

export async function createJob(flags: CreateJobFlags): Promise<void> {
  const { id } = await (await connect(flags)).createJob(
    jobOf(flags),
    flags.key === undefined ? {} : { idempotencyKey: flags.key },
  );
  if (flags.json) return printJson({ id });
  print(`job ${colours.bold(id)}`);
  print(colours.dim(`see it with: ${next(`jobs show ${id}`)}`));
}

function jobOf(flags: CreateJobFlags): NewJob {
  const { run, http: url, method, task, at, delay, cron, every, tz, params, inputs, retries, tag } = flags;
  const [dag, name, ...rest] = task?.split('/') ?? [];
  if (task !== undefined && (dag === undefined || name === undefined || rest.length > 0))
    throw new CliError(`--task is "${task}".`, 'Write dag/task, such as report/load.', EXIT.usage);
  if (retries !== undefined && !/^\d{1,3}$/.test(retries))
    throw new CliError(`--retries is "${retries}".`, 'Give a whole number, such as 3.', EXIT.usage);
  const { priority, queue, timeout, callback, owner } = flags;
  const given = {
    ...{ run, delay, cron, every, zone: tz, params, inputs, priority, queue, timeout, callbackUrl: callback, owner },
    http: url === undefined ? undefined : { url, ...(method === undefined ? {} : { method }) },
    task: task === undefined ? undefined : { dag, task: name },
    at: at === undefined ? undefined : instantText('--at', at),
    retries: retries === undefined ? undefined : { maxAttempts: Number(retries) + 1 },
    tags: tag?.split(','),
    name: flags.name,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

export async function listJobs(flags: ListJobsFlags): Promise<void> {
  const { tag, owner, state, limit, cursor } = flags;
  const filter = Object.fromEntries(
    Object.entries({ tag, owner, state, limit, cursor }).filter(([, value]) => value !== undefined),
  );
  const page = await (await connect(flags)).listJobs(filter);
  if (flags.json) return printJson(page);
  const rows = page.items.map((job) => [
    job.id,
    coloured(job.state),
    job.fires ?? (job.recurring ? '' : 'once'),
    job.nextAt ?? '',
    short(job.name ?? job.what, 50),
    short(job.tags.join(' '), 40),
  ]);
  if (rows.length > 0) print(table(['job', 'state', 'when', 'next', 'what', 'tags'], rows));
  else
    print(
      page.cursor === null
        ? `no jobs; create one with: ${next('jobs create --run "echo hello"')}`
        : 'no jobs on this page',
    );
  if (page.cursor !== null) print(colours.dim(`next page: --cursor ${page.cursor}`));
}

export async function showJob(id: string, flags: ClientFlags): Promise<void> {
  show(await (await connect(flags)).getJob(id), flags);
}

export async function setJob(id: string, verb: 'pause' | 'resume' | 'cancel', flags: ClientFlags): Promise<void> {
  const client = await connect(flags);
  const job = await client[`${verb}Job`](id);
  if (flags.json) return printJson(job);
  print(`job ${job.id} is ${coloured(job.state)}`);
}

export async function deleteJob(id: string, flags: ClientFlags): Promise<void> {
  const deleted = await (await connect(flags)).deleteJob(id);
  if (flags.json) return printJson(deleted);
  print(`job ${id} is deleted`);
}

export async function listJobRuns(id: string, flags: PageFlags): Promise<void> {
  const { limit, cursor } = flags;
  const page = await (await connect(flags)).listJobRuns(id, { limit, ...(cursor === undefined ? {} : { cursor }) });
  if (flags.json) return printJson(page);
  const rows = page.items.map((run) => [
    run.id,
    coloured(run.outcome ?? run.state),
    run.createdAt,
    run.endedAt === null ? '' : spanBetween(run.createdAt, run.endedAt),
  ]);
  print(rows.length > 0 ? table(['run', 'state', 'created', 'took'], rows) : 'no runs yet');
  if (page.cursor !== null) print(colours.dim(`next page: --cursor ${page.cursor}`));
}

function show(job: JobView, { json }: ClientFlags): void {
  if (json) return printJson(job);
  print(`job ${colours.bold(job.id)} is ${coloured(job.state)}`);
  print(plain(job.what));
  if (job.name !== null) print(`name: ${plain(job.name)}`);
  if (job.fires !== null) print(`fires: ${plain(job.fires)}, ${counted(job.fired ?? 0, 'run')} so far`);
  if (job.nextAt !== null) print(`next: ${job.nextAt}`);
  if (job.tags.length > 0) print(`tags: ${plain(job.tags.join(', '))}`);
  if (job.owner !== null) print(`owner: ${plain(job.owner)}`);
  print(`created ${job.createdAt} by ${plain(job.createdBy)}`);
  if (job.run !== null) print(colours.dim(`its run: ${next(`runs show ${job.run}`)}`));
}
