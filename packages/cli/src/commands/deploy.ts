/** `signalbox deploy`. */
import { readFile } from 'node:fs/promises';
import type { DagDefinition } from '@signalbox/sdk';
import { type ConnectionFlags, connect } from '../connection.ts';
import { colours, print, printJson } from '../output.ts';
import { CliError } from '../problem.ts';

export async function deploy(
  files: readonly string[],
  flags: ConnectionFlags & { readonly json?: boolean },
): Promise<void> {
  const definitions = await Promise.all(files.map(readDefinition));
  const client = await connect(flags);
  for (const definition of definitions) {
    // Whatever it holds, the server says what is wrong with it.
    const { name, version, hash, changed } = await client.deployDag(definition);
    if (flags.json) printJson({ name, version, hash, changed });
    else print(`${colours.bold(name)} version ${version}${changed ? '' : ' (unchanged)'}`);
  }
}

export async function readDefinition(file: string): Promise<DagDefinition> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(`The file ${file} can't be read (${error.code}).`, 'Give the path of a definition.');
  });
  try {
    return JSON.parse(text) as DagDefinition;
  } catch (error) {
    throw new CliError(`The file ${file} is not JSON: ${(error as Error).message}.`, 'Correct it and deploy it again.');
  }
}
