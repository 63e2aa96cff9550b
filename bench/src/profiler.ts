/**
 * Loaded into each process and thread of a measured cluster (`--profile FOLDER` of the bench): records a CPU profile while the
 * file `on` is in that folder. Threads get no signals, so they look for the file.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { basename, join } from 'node:path';
import { threadId } from 'node:worker_threads';

const LOOK_MS = 20;
const INTERVAL_US = 200;
const folder = process.env['BENCH_PROFILE'] ?? '';
const name = `${basename(process.argv[1] ?? 'node', '.js')}-${process.pid}-${threadId}`;
let session: Session | null = null;
let count = 0;

function begin(): Session {
  const begun = new Session();
  begun.connect();
  begun.post('Profiler.enable');
  begun.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
  begun.post('Profiler.start');
  return begun;
}

if (folder !== '') {
  setInterval(() => {
    const isOn = existsSync(join(folder, 'on'));
    if (isOn && session === null) session = begin();
    else if (!isOn && session !== null) {
      const ending = session;
      session = null;
      ending.post('Profiler.stop', (_, { profile }) => {
        writeFileSync(join(folder, `${name}-${++count}.cpuprofile`), JSON.stringify(profile));
        ending.disconnect();
      });
    }
  }, LOOK_MS).unref();
}
