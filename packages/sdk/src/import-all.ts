/** Sends things as lines, thousands in a request and two requests at a time, and adds up what became of them. */
import { createHash } from 'node:crypto';
import type { Imported } from '@signalbox/protocol';

/** About a second's work for a server: far below what a request may take. */
const LINES_PER_REQUEST = 5_000;
/** A server takes four times that. */
const BYTES_PER_REQUEST = 8 * 1024 * 1024;
const REQUESTS_UNDER_WAY = 2;
const MOST_ERRORS = 100;
const TRIES = 5;
const MOST_KEY_CHARS = 255;

type Wait = (retryAfterMs: number, tries: number) => Promise<void>;

export async function importAll<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  /** `first` is the number of the first line, from 1. */
  send: (lines: string, first: number) => Promise<Imported>,
  /** Before lines are sent again; not for less than the server asks for. */
  wait: Wait,
): Promise<Imported> {
  const sum: { created: number; refused: number; errors: Imported['errors'] } = { created: 0, refused: 0, errors: [] };
  const underWay = new Set<Promise<void>>();
  let failure: { readonly reason: unknown } | null = null;
  let [lines, bytes, first]: [string[], number, number] = [[], 0, 1];
  const begin = async () => {
    while (underWay.size >= REQUESTS_UNDER_WAY) await Promise.race(underWay);
    if (failure !== null) throw failure.reason;
    const [text, before] = [lines.join('\n'), first - 1];
    const sent = sendUntilSettled(() => send(text, before + 1), wait)
      .then(({ created, refused, errors }) => {
        sum.created += created;
        sum.refused += refused;
        for (const error of errors) sum.errors.push({ ...error, line: error.line + before });
      })
      .catch((reason: unknown) => {
        failure ??= { reason };
      })
      .finally(() => underWay.delete(sent));
    underWay.add(sent);
    first += lines.length;
    [lines, bytes] = [[], 0];
  };
  for await (const item of items) {
    const line = JSON.stringify(item);
    const more = Buffer.byteLength(line) + 1;
    if (lines.length > 0 && bytes + more > BYTES_PER_REQUEST) await begin();
    lines.push(line);
    bytes += more;
    if (lines.length === LINES_PER_REQUEST) await begin();
  }
  if (lines.length > 0) await begin();
  await Promise.all(underWay);
  if (failure !== null) throw (failure as { readonly reason: unknown }).reason;
  return { ...sum, errors: sum.errors.sort((a, b) => a.line - b.line).slice(0, MOST_ERRORS) };
}

/** Lines that a busy server did not get to are sent again, and the others with them: they stay as they are. */
async function sendUntilSettled(send: () => Promise<Imported>, wait: Wait): Promise<Imported> {
  for (let tries = 1; ; tries++) {
    const answer = await send();
    const again = answer.errors.filter(({ error }) => error.retryable);
    if (tries === TRIES || again.length === 0) return answer;
    await wait(Math.max(...again.map(({ error }) => error.retryAfterMs ?? 0)), tries);
  }
}

/** The key of the request that begins with this line. A long key is hashed, so that the number of the line has room. */
export function keyOfPart(key: string, first: number): string {
  const part = `${key}:${first}`;
  if (part.length <= MOST_KEY_CHARS || key.length > MOST_KEY_CHARS) return part;
  return `${createHash('sha256').update(key).digest('hex')}:${first}`;
}
