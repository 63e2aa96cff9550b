/** A filter by a dag that does not exist finds nothing, which looks as if all were well. */
import type { Client } from '@signalbox/sdk';

/** Throws when there is no such dag. Called where a list came back empty, so that other lists cost no second request. */
export async function knownDag(client: Pick<Client, 'getDag'>, dag: string | undefined): Promise<void> {
  if (dag !== undefined) await client.getDag(dag);
}
