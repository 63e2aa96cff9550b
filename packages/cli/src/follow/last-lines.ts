/** The lines of a log, all or the last of them. */
import type { AttemptName, Client, LogLine } from '@signalbox/sdk';

const PAGES_LIMIT = 10_000;

/** Reads from the beginning: a log does not tell its length. What is not wanted is let go on the way. */
export async function lastLines(
  client: Pick<Client, 'readLog'>,
  attempt: AttemptName,
  count?: number,
): Promise<LogLine[]> {
  let lines: LogLine[] = [];
  for (let from = 0, page = 0; page < PAGES_LIMIT; page++) {
    const read = await client.readLog(attempt, { from });
    lines.push(...read.lines);
    if (count !== undefined) lines = lines.slice(-count);
    if (read.lines.length === 0) break;
    from = read.next;
  }
  return lines;
}
