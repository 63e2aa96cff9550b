/**
 * What workers really did, written by the handlers themselves: one line when an attempt begins, one when it ends. Appended
 * with a single write each, so that a kill leaves whole lines.
 */
import { existsSync, readFileSync } from 'node:fs';

export interface Sighting {
  readonly what: 'began' | 'ended';
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
  readonly worker: string;
  /** Milliseconds since 1970; all processes share the machine's clock. */
  readonly at: number;
}

export function readSightings(files: readonly string[]): Sighting[] {
  return (readLines(files) as Sighting[]).sort((a, b) => a.at - b.at);
}

/** One JSON value a line. A last line that a kill cut short is left out. */
export function readLines(files: readonly string[]): unknown[] {
  return files
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as unknown);
}

/** The first attempt that began after this time. */
export function firstBeganAfter(sightings: readonly Sighting[], at: number): Sighting | undefined {
  return sightings.find((sighting) => sighting.what === 'began' && sighting.at > at);
}
