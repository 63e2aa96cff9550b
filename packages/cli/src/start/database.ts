/** Stops the embedded database without waiting for its users. */
import { join } from 'node:path';
import type { ServerConfig } from '@signalbox/server';
import { inspectFolder } from '@signalbox/server/inspection';

/** A fast end is a safe one: its sessions are cut off, and it writes down what it must. It goes on after we have ended. */
export async function endDatabaseNow({ databaseUrl, dataDir }: ServerConfig): Promise<void> {
  if (databaseUrl !== null) return;
  const seen = await inspectFolder(join(dataDir, 'pg18'));
  if (seen.state === 'running') process.kill(seen.pid, 'SIGINT');
}
