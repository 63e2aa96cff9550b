/** `signalbox schedules import`. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { NewSchedules } from '@signalbox/protocol';
import { type ClientFlags, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { print, printJson, short } from '../output.ts';
import { CliError } from '../problem.ts';

const SHOWN = 10;

export async function importSchedules(file: string, flags: ClientFlags): Promise<void> {
  const blank: number[] = [];
  const { created, refused, ...imported } = await (await connect(flags)).importSchedules(schedulesIn(file, blank));
  const errors = imported.errors.map((error) => ({ ...error, line: placeOf(error.line, blank) }));
  if (flags.json) printJson({ created, refused, errors });
  else {
    print(`${created.toLocaleString('en')} schedules are there`);
    for (const { line, lines, error } of errors.slice(0, SHOWN)) {
      print(`line ${line}${lines === 1 ? '' : ` and ${lines - 1} more of its dag`}: ${short(error.detail, 300)}`);
    }
    if (errors.length > SHOWN) print(`and ${errors.length - SHOWN} more errors: see them with --json`);
  }
  if (refused === 0) return;
  const remedy = 'Correct the lines above, and import the file again: what is there stays as it is.';
  throw new CliError(`${refused.toLocaleString('en')} schedules were refused.`, remedy);
}

/** Where the line is in the file: blank ones are not sent. */
function placeOf(line: number, blank: readonly number[]): number {
  let place = line;
  for (const no of blank) if (no <= place) place += 1;
  return place;
}

async function* schedulesIn(file: string, blank: number[]): AsyncGenerator<NewSchedules['items'][number]> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  const opened = new Promise<void>((resolve, reject) => {
    if (file === '-') resolve();
    else input.once('ready', resolve).once('error', reject);
  });
  await opened.catch((error: unknown) => {
    const remedy = 'Name a file with one schedule per line, or - for standard input.';
    throw new CliError(`${file} can not be read: ${(error as Error).message}`, remedy, EXIT.usage);
  });
  let no = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    no += 1;
    if (line.trim() === '') blank.push(no);
    else yield lineOf(line, no);
  }
}

function lineOf(line: string, no: number): NewSchedules['items'][number] {
  try {
    return JSON.parse(line) as NewSchedules['items'][number];
  } catch {
    throw new CliError(
      `Line ${no} is not JSON: ${short(line)}`,
      'Write one schedule per line, as a JSON object.',
      EXIT.usage,
    );
  }
}
