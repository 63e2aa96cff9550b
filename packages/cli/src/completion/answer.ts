/** Answers the shell while somebody types: one candidate per line, and at the end whether paths are possible too. */
import { connect } from '../connection.ts';
import { plain } from '../output.ts';
import { candidatesFor } from './candidates.ts';

/** A person waits for it with a finger on the key. */
const PATIENCE_MS = 300;
const MOST_NAMES = 200;

export async function answer(words: readonly string[]): Promise<void> {
  const { words: found, paths } = await candidatesFor(words, dagNames);
  const lines = found.map(([word, what]) => `${plain(word)}\t${plain(what)}`);
  process.stdout.write([...lines, `:${paths ?? ''}`, ''].join('\n'));
}

/** None, rather than a wait, when no server answers at once. */
async function dagNames(flags: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const [url, data] = [flags.get('--url'), flags.get('--data')];
  try {
    const client = await connect(
      { ...(url === undefined ? {} : { url }), ...(data === undefined ? {} : { data }) },
      { retryForMs: 0 },
    );
    const page = await client.listDags({ limit: MOST_NAMES }, { signal: AbortSignal.timeout(PATIENCE_MS) });
    return page.items.map(({ name }) => name);
  } catch {
    return [];
  }
}
