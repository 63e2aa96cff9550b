/** Sends things as lines, thousands in a request and two requests at a time, and adds up what became of them. */
import type { Imported } from '@signalbox/protocol';

/** About a second's work for a server: far below what a request may take. */
const LINES_PER_REQUEST = 5_000;
const REQUESTS_UNDER_WAY = 2;
const MOST_ERRORS = 100;
const TRIES = 5;

export async function importAll<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  send: (lines: string) => Promise<Imported>,
): Promise<Imported> {
  const sum: { created: number; refused: number; errors: Imported['errors'] } = { created: 0, refused: 0, errors: [] };
  const underWay = new Set<Promise<void>>();
  let failure: { readonly reason: unknown } | null = null;
  let [lines, first]: [string[], number] = [[], 1];
  const begin = async () => {
    while (underWay.size >= REQUESTS_UNDER_WAY) await Promise.race(underWay);
    if (failure !== null) throw failure.reason;
    const [text, before] = [lines.join('\n'), first - 1];
    const sent = sendUntilSettled(text, send)
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
    lines = [];
  };
  for await (const item of items) {
    lines.push(JSON.stringify(item));
    if (lines.length === LINES_PER_REQUEST) await begin();
  }
  if (lines.length > 0) await begin();
  await Promise.all(underWay);
  if (failure !== null) throw (failure as { readonly reason: unknown }).reason;
  return { ...sum, errors: sum.errors.sort((a, b) => a.line - b.line).slice(0, MOST_ERRORS) };
}

/** Lines that a busy server did not get to are sent again, and the others with them: they stay as they are. */
async function sendUntilSettled(lines: string, send: (lines: string) => Promise<Imported>): Promise<Imported> {
  for (let tries = 1; ; tries++) {
    const answer = await send(lines);
    if (tries === TRIES || !answer.errors.some(({ error }) => error.retryable)) return answer;
  }
}
