/** A server as a process: settings from the environment, ended by a signal. */
import { parseConfig } from './config.ts';
import { type RunningServer, startServer } from './start.ts';

/** What is to be done first when the server has been told to end. */
type BeforeStop = () => Promise<void>;

/** Resolves when the server has been told to end, and has. A second signal ends the process at once. */
export async function runServer(
  variables: Readonly<Record<string, string | undefined>>,
  onStarted: (server: RunningServer) => BeforeStop | undefined | Promise<BeforeStop | undefined> = () => undefined,
): Promise<void> {
  const config = parseConfig(variables);
  let isTold = false;
  const told = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (isTold) process.exit(1);
        isTold = true;
        resolve();
      });
    }
  });
  const server = await startServer(config);
  const beforeStop = await onStarted(server);
  await told;
  await beforeStop?.();
  await server.stop();
}
