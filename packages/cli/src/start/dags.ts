/** The dags that `start` makes known. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@signalbox/sdk';
import { readDefinition } from '../commands/deploy.ts';

export const EXAMPLES = fileURLToPath(new URL('../../../../examples/', import.meta.url));

export class Dags {
  readonly folder: string | null = null;

  static async deploy({
    client,
    examples,
  }: {
    client: Client;
    say: (line: string) => void;
    examples: boolean;
    folder?: string;
  }): Promise<Dags> {
    const files = examples ? (await readdir(EXAMPLES)).filter((name) => name.endsWith('.json')) : [];
    for (const file of files.sort()) await client.deployDag(await readDefinition(join(EXAMPLES, file)));
    return new Dags();
  }

  async close(): Promise<void> {}
}
