/** Refuses a filter by a dag that does not exist. An empty result would look as if all were well. */
import type { Client } from '@signalbox/sdk';

/** Throws when there is no such dag. Called where a list came back empty, so that other lists cost no second request. */
export async function knownDag(client: Pick<Client, 'getDag'>, dag: string | undefined): Promise<void> {
  if (dag !== undefined) await client.getDag(dag);
}
