/** `signalbox runs watch`. */
import { type ClientFlags, connect } from '../connection.ts';
import { followToEnd } from '../follow/follow-to-end.ts';
import { resolveRun } from '../run-id.ts';

export interface WatchFlags extends ClientFlags {
  readonly timeout?: number;
}

export async function watch(given: string, flags: WatchFlags): Promise<void> {
  const client = await connect(flags);
  await followToEnd(client, await resolveRun(client, given), flags);
}
