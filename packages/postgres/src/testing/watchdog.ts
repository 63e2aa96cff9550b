import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';

/**
 * Waits on a pipe that the test process holds. However that ends, a kill -9 included, the pipe closes; then the shell kills what
 * still works in the data folder, stopped processes too, and removes all. A shell rather than Node: 1 MB instead of 40.
 */
const SCRIPT = `
cat >/dev/null
for round in 1 2 3 4 5 6 7 8 9 10; do
  found=
  for process in /proc/[0-9]*; do
    if [ "$process/cwd" -ef "$1/data" ]; then kill -9 "\${process#/proc/}" && found=1; fi
  done
  if [ ! -d /proc/self ] && [ -f "$1/data/postmaster.pid" ]; then kill -9 "$(head -n 1 "$1/data/postmaster.pid")"; fi
  if [ -z "$found" ] && rm -rf "$@"; then exit 0; fi
  sleep 0.1
done 2>/dev/null
`;

export type Watchdog = { release(): Promise<void> };

/** `folder` holds `data`; `others` are removed with it. */
export async function watch(folder: string, others: readonly string[]): Promise<Watchdog> {
  // Detached: Ctrl-C in a terminal goes to the whole group, and this is the one that has to stay.
  const child = spawn('sh', ['-c', SCRIPT, 'watchdog', folder, ...others], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  await once(child, 'spawn');
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return {
    release: async () => {
      const ended = child.exitCode === null ? once(child, 'exit') : undefined;
      child.ref();
      child.stdin.end();
      await ended;
    },
  };
}
