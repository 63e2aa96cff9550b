import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';

/**
 * Waits on a pipe that the test process holds. However that ends, a kill -9 included, the pipe closes; then the shell ends what
 * still works in the data folder, frozen processes too, and removes all. A shell rather than Node: 1 MB instead of 40.
 *
 * SIGQUIT first, as a server that ends by itself gives its shared memory back; a killed one leaves 56 bytes, which line 7 of
 * its `postmaster.pid` names, and of which the system has a limited number.
 */
const SCRIPT = `
data=$1
shift
cat >/dev/null
for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  if [ $round -lt 10 ]; then signal=QUIT; else signal=KILL; fi
  found=
  for process in /proc/[0-9]*; do
    pid=\${process#/proc/}
    if [ "$process/cwd" -ef "$data" ]; then found=1; kill -$signal $pid; kill -CONT $pid; fi
  done
  if [ ! -d /proc/self ] && pid=$(head -n 1 "$data/postmaster.pid") && kill -$signal $pid; then found=1; fi
  if [ -z "$found" ]; then
    memory=$(sed -n 7p "$data/postmaster.pid") && ipcrm -m \${memory##* }
    rm -rf "$@" && exit 0
  fi
  sleep 0.1
done 2>/dev/null
`;

/** `release` does now what it would do at the end of the process. */
type Watchdog = { release(): Promise<void> };

/** What works in `dataDir` is ended, and `folders` are removed. */
export async function watch(dataDir: string, folders: readonly string[]): Promise<Watchdog> {
  // Detached: Ctrl-C in a terminal goes to the whole group, and this is the one that has to stay.
  const child = spawn('sh', ['-c', SCRIPT, 'watchdog', dataDir, ...folders], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  await once(child, 'spawn');
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return {
    release: async () => {
      const running = child.exitCode === null && child.signalCode === null;
      const ended = running ? once(child, 'exit') : undefined;
      child.ref();
      child.stdin.end();
      await ended;
    },
  };
}
