/** `signalbox schedules import` and `signalbox jobs import`: one thing per line of JSON. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Imported, NewJob, NewSchedules } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { print, printJson, short } from '../output.ts';
import { CliError } from '../problem.ts';

const SHOWN = 10;

export interface ImportJobsFlags extends ClientFlags {
  readonly key?: string;
}

type NewSchedule = NewSchedules['items'][number];

export async function importSchedules(file: string, flags: ClientFlags): Promise<void> {
  const client = await connect(flags);
  const again = 'Correct the lines above, and import the file again: what is there stays as it is.';
  await importFile<NewSchedule>(file, flags, {
    ...{ one: 'schedule', of: 'of its dag', again },
    send: (items) => client.importSchedules(items),
  });
}

export async function importJobs(file: string, flags: ImportJobsFlags): Promise<void> {
  const client = await connect(flags);
  const again = 'Put the lines above into a file of their own, correct them, and import that file.';
  await importFile<NewJob>(file, flags, {
    ...{ one: 'job', of: 'like it', again },
    send: (items) => client.importJobs(items, flags.key === undefined ? {} : { idempotencyKey: flags.key }),
  });
}

interface Kind<Item> {
  readonly one: string;
  /** What lines that are refused together have in common. */
  readonly of: string;
  readonly again: string;
  readonly send: (items: AsyncIterable<Item>) => Promise<Imported>;
}

async function importFile<Item>(file: string, flags: ClientFlags, kind: Kind<Item>): Promise<void> {
  const { one, of, again, send } = kind;
  const blank: number[] = [];
  const { created, refused, ...imported } = await send(itemsIn<Item>(file, one, blank));
  const errors = imported.errors.map((error) => ({ ...error, line: placeOf(error.line, blank) }));
  if (flags.json) printJson({ created, refused, errors });
  else {
    print(`${counted(created, one)} ${created === 1 ? 'is' : 'are'} there`);
    for (const { line, lines, error } of errors.slice(0, SHOWN)) {
      print(`line ${line}${lines === 1 ? '' : ` and ${lines - 1} more ${of}`}: ${short(error.detail, 300)}`);
    }
    if (errors.length > SHOWN) print(`and ${errors.length - SHOWN} more errors: see them with --json`);
  }
  if (refused === 0) return;
  throw new CliError(`${counted(refused, one)} ${refused === 1 ? 'was' : 'were'} refused.`, again);
}

function counted(count: number, one: string): string {
  return `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;
}

/** Where the line is in the file: blank ones are not sent. */
function placeOf(line: number, blank: readonly number[]): number {
  let place = line;
  for (const no of blank) if (no <= place) place += 1;
  return place;
}

async function* itemsIn<Item>(file: string, one: string, blank: number[]): AsyncGenerator<Item> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  const opened = new Promise<void>((resolve, reject) => {
    if (file === '-') resolve();
    else input.once('ready', resolve).once('error', reject);
  });
  await opened.catch((error: unknown) => {
    const remedy = `Name a file with one ${one} per line, or - for standard input.`;
    throw new CliError(`${file} can not be read: ${(error as Error).message}`, remedy, EXIT.usage);
  });
  let no = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    no += 1;
    if (line.trim() === '') blank.push(no);
    else yield lineOf(line, one, no) as Item;
  }
}

function lineOf(line: string, one: string, no: number): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    throw new CliError(
      `Line ${no} is not JSON: ${short(line)}`,
      `Write one ${one} per line, as a JSON object.`,
      EXIT.usage,
    );
  }
}
