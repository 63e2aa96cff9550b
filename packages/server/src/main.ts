/** A server as a process: settings from the environment, ended by a signal. */
import { parseConfig } from './config.ts';
import { systemClock } from './ports/clock.ts';
import { type RunningServer, startServer } from './start.ts';
import { collectStartupGarbageSoon } from './startup-garbage.ts';

/** Runs first when the server is told to stop. */
type BeforeStop = () => Promise<void>;

/** Ctrl-C in a terminal reaches the whole group, and a parent such as npm passes its own on: within this time they are one. */
const SAME_SIGNAL_MS = 300;

/**
 * Resolves at the first signal to end; `onAgain` is called at the next one. SIGHUP counts: a terminal that goes away must
 * not leave a half of it behind.
 */
export function untilTold(onAgain: () => void): Promise<void> {
  let toldAt: number | null = null;
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (toldAt === null) {
          toldAt = systemClock.mono();
          resolve();
        } else if (systemClock.mono() - toldAt > SAME_SIGNAL_MS) onAgain();
      });
    }
  });
}

/** Resolves when the server has been told to end, and has. A second signal ends the process at once. */
export async function runServer(
  variables: Readonly<Record<string, string | undefined>>,
  onStarted: (server: RunningServer) => BeforeStop | undefined | Promise<BeforeStop | undefined> = () => undefined,
): Promise<void> {
  const config = parseConfig(variables);
  const told = untilTold(() => process.exit(1));
  const server = await startServer(config);
  collectStartupGarbageSoon();
  const beforeStop = await onStarted(server);
  await told;
  await beforeStop?.();
  await server.stop();
}
