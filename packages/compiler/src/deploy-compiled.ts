/** Deploys code first, then the versions that refer to it. One refusal does not stop the others. */
import { MAX_BUNDLE_BYTES, SignalboxError } from '@signalbox/protocol';
import type { Client } from '@signalbox/sdk';
import type { Bundle, CompiledDag, FileArchive } from './compiled.ts';

export type DeployOutcome = { readonly name: string; readonly file: string } & (
  | {
      readonly ok: true;
      readonly version: number;
      readonly hash: string;
      readonly changed: boolean;
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly error: SignalboxError }
);

type Deployer = Pick<Client, 'deployDag' | 'putBundle' | 'putSourceMap'>;

/** `sourceOf` says where the files of a dag lie, for people who find the same name deployed from two places. */
export async function deployCompiled(
  client: Deployer,
  dags: readonly CompiledDag[],
  sourceOf: (dag: CompiledDag) => string | undefined = () => undefined,
): Promise<DeployOutcome[]> {
  const stored = new Map<string, Promise<void>>();
  const outcomes: DeployOutcome[] = [];
  for (const dag of dags) {
    const { name, file, definition, bundle, files } = dag;
    try {
      // Dags of one file have one bundle.
      if (bundle !== null) {
        if (!stored.has(bundle.hash)) stored.set(bundle.hash, storeBundle(client, bundle));
        await stored.get(bundle.hash);
      }
      if (files !== null) {
        if (!stored.has(files.hash)) stored.set(files.hash, storeFiles(client, files));
        await stored.get(files.hash);
      }
      const { version, hash, changed, warnings = [] } = await client.deployDag(definition, { source: sourceOf(dag) });
      outcomes.push({ name, file, ok: true, version, hash, changed, warnings });
    } catch (error) {
      if (!(error instanceof SignalboxError)) throw error;
      outcomes.push({ name, file, ok: false, error });
    }
  }
  return outcomes;
}

async function storeFiles(client: Deployer, { hash, archive }: FileArchive): Promise<void> {
  await client.putBundle(hash, archive);
}

async function storeBundle(client: Deployer, { hash, code, sourceMap }: Bundle): Promise<void> {
  await client.putBundle(hash, code);
  // Without one, stack traces show the lines of the bundle; that is no reason not to run it.
  if (sourceMap !== null && sourceMap.length <= MAX_BUNDLE_BYTES) await client.putSourceMap(hash, sourceMap);
}
