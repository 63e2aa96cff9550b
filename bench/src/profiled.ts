/** Takes CPU profiles of all processes of a cluster during a measurement: `--profile FOLDER`, then `profile-summary.js FOLDER`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pause } from '@signalbox/e2e';

/** Longer than the profilers take to see that they are to begin or end, and to write what they have. */
const SETTLE_MS = 1_500;

/** From here on each process that is started can be profiled. */
export function profileInto(folder: string): void {
  const path = resolve(folder);
  mkdirSync(path, { recursive: true });
  rmSync(join(path, 'on'), { force: true });
  process.env['BENCH_PROFILE'] = path;
  process.env['NODE_OPTIONS'] =
    `${process.env['NODE_OPTIONS'] ?? ''} --import=${new URL('profiler.js', import.meta.url).href}`;
}

export async function profiled<T>(measure: () => Promise<T>): Promise<T> {
  const folder = process.env['BENCH_PROFILE'];
  if (folder === undefined) return measure();
  writeFileSync(join(folder, 'on'), '');
  await pause(SETTLE_MS);
  try {
    return await measure();
  } finally {
    rmSync(join(folder, 'on'));
    await pause(SETTLE_MS);
  }
}
