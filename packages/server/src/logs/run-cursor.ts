/**
 * The log of a whole run: the lines of all attempts by time. Attempts are opened in the order in which they were claimed,
 * some at a time, and closed when they are complete. A cursor names the open ones, each with its next line, and the one that
 * was opened last.
 */
import { SignalboxError } from '@signalbox/protocol';
import type { LogAttemptView } from '@signalbox/store';
import type { NumberedLine } from './frame.ts';
import type { LogPage } from './log-store.ts';
import { cutAtGap } from './merge.ts';

export interface RunCursor {
  /** Attempts up to this one were opened; null for none. */
  readonly opened: AttemptKey | null;
  readonly open: readonly { readonly key: AttemptKey; readonly next: number }[];
}

/** In the order of claims: instant, task, attempt. */
type AttemptKey = readonly [claimedAt: number, taskNo: number, attemptNo: number];

export const START: RunCursor = { opened: null, open: [] };

/** Side by side; of more attempts that run at the same time the later ones are shown when earlier ones end. */
const MOST_OPEN = 200;
const LEAST_LINES = 20;
/** Attempts that said nothing are passed over, but not without end. */
const MOST_ROUNDS = 100;
/** One attempt may say much while the others are silent: it is read on in portions of so many lines. */
const BURST = 1_000;
const MOST_READS = 100;

interface Advance {
  readonly cursor: RunCursor;
  readonly limit: number;
  /** In the order of claims. */
  readonly attempts: readonly LogAttemptView[];
  readonly isSettled: (attempt: LogAttemptView) => boolean;
  readonly read: (
    wanted: readonly { readonly attempt: LogAttemptView; readonly from: number; readonly limit: number }[],
  ) => Promise<{ readonly pages: readonly LogPage[]; readonly missing: readonly string[] }>;
  readonly now: number;
}

interface Advanced {
  readonly lines: readonly Line[];
  readonly next: RunCursor;
  /** All attempts that there are were shown to their ends. */
  readonly isAll: boolean;
  readonly missing: readonly string[];
}

export async function advance({ cursor, limit, attempts, isSettled, read, now }: Advance): Promise<Advanced> {
  const known = new Map(attempts.map((attempt) => [keyOf(attempt).join(), attempt]));
  const open = new Map<LogAttemptView, number>();
  for (const { key, next } of cursor.open) {
    const attempt = known.get(key.join());
    if (attempt !== undefined) open.set(attempt, next);
  }
  let opened = cursor.opened;
  let missing: readonly string[] = [];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    for (const attempt of attempts) {
      if (open.size >= MOST_OPEN) break;
      if (opened !== null && compare(keyOf(attempt), opened) <= 0) continue;
      open.set(attempt, 0);
      opened = keyOf(attempt);
    }
    const list = [...open].map(([attempt, from]) => ({
      attempt,
      from,
      limit: Math.max(LEAST_LINES, Math.ceil(limit / open.size)),
    }));
    if (list.length === 0) break;
    const found = await read(list);
    missing = found.missing;
    const parts = list.map(({ attempt, from }, i) =>
      new Part(attempt, isSettled(attempt), from).add(found.pages[i] ?? NOTHING, now),
    );
    const lines: Line[] = [];
    for (let reads = 0; reads < MOST_READS; reads++) {
      const starving = interleave(parts, lines, limit);
      if (starving === null) break;
      // Only that one is read on: lines of the others that were read are still to come.
      const { attempt, next: from } = starving;
      const more = await read([{ attempt, from, limit: Math.max(LEAST_LINES, Math.min(limit - lines.length, BURST)) }]);
      missing = more.missing;
      if (starving.add(more.pages[0] ?? NOTHING, now).isEmpty) break;
    }
    let hasClosed = false;
    for (const part of parts) {
      open.set(part.attempt, part.shown);
      if (part.isSettled && !part.hasMore && part.isEmpty) hasClosed = open.delete(part.attempt);
    }
    if (lines.length > 0 || !hasClosed) return { lines, next: cursorOf(opened, open), isAll: isAll(), missing };
  }
  return { lines: [], next: cursorOf(opened, open), isAll: isAll(), missing };

  function isAll(): boolean {
    const last = attempts.at(-1);
    return open.size === 0 && (last === undefined || (opened !== null && compare(keyOf(last), opened) <= 0));
  }
}

interface Line {
  readonly attempt: LogAttemptView;
  readonly line: NumberedLine;
}

const NOTHING: LogPage = { lines: [], hasMore: false };

/** What was read of an attempt, and how much of that is shown. */
class Part {
  readonly attempt: LogAttemptView;
  readonly isSettled: boolean;
  #lines: readonly NumberedLine[] = [];
  #taken = 0;
  /** The line to read on from, and the one to show next. */
  next: number;
  shown: number;
  hasMore = false;

  constructor(attempt: LogAttemptView, isSettled: boolean, from: number) {
    this.attempt = attempt;
    this.isSettled = isSettled;
    this.next = from;
    this.shown = from;
  }

  get first(): NumberedLine | undefined {
    return this.#lines[this.#taken];
  }

  get isEmpty(): boolean {
    return this.first === undefined;
  }

  /** Only once all that was read before is shown. */
  add(page: LogPage, now: number): this {
    const { lines, hasMore } = cutAtGap(page, { from: this.next, isSettled: this.isSettled, now });
    this.#lines = lines;
    this.#taken = 0;
    this.hasMore = hasMore;
    this.next = (lines.at(-1)?.no ?? this.next - 1) + 1;
    return this;
  }

  take(): NumberedLine {
    const line = this.#lines[this.#taken++] as NumberedLine;
    this.shown = line.no + 1;
    return line;
  }
}

/** The earliest line first. Returns a part that has more than was read: its next line may come before all others. */
function interleave(parts: readonly Part[], lines: Line[], limit: number): Part | null {
  while (lines.length < limit) {
    let earliest: Part | null = null;
    for (const part of parts) {
      const { first } = part;
      if (first === undefined) {
        if (part.hasMore) return part;
      } else if (earliest?.first === undefined || first.at < earliest.first.at) earliest = part;
    }
    if (earliest === null) return null;
    lines.push({ attempt: earliest.attempt, line: earliest.take() });
  }
  return null;
}

const keyOf = ({ claimedAt, taskNo, attemptNo }: LogAttemptView): AttemptKey => [claimedAt, taskNo, attemptNo];

function compare(a: AttemptKey, b: AttemptKey): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

function cursorOf(opened: AttemptKey | null, open: ReadonlyMap<LogAttemptView, number>): RunCursor {
  return { opened, open: [...open].map(([attempt, next]) => ({ key: keyOf(attempt), next })) };
}

export function writeCursor({ opened, open }: RunCursor): string {
  return Buffer.from(JSON.stringify([opened, open.map(({ key, next }) => [...key, next])])).toString('base64url');
}

/** Refuses what no page has given. */
export function readCursor(text: string): RunCursor {
  try {
    const [opened, open] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [unknown, unknown];
    if (!(opened === null || isNumbers(opened, 3)) || !Array.isArray(open) || open.length > MOST_OPEN)
      throw new Error();
    const parts = open.map((part: unknown) => {
      if (!isNumbers(part, 4)) throw new Error();
      return { key: [part[0], part[1], part[2]] as AttemptKey, next: part[3] as number };
    });
    return { opened: opened as AttemptKey | null, open: parts };
  } catch {
    throw new SignalboxError('BAD_REQUEST', {
      problems: [{ path: 'cursor', message: 'is not a cursor from a page' }],
    });
  }
}

function isNumbers(value: unknown, count: number): value is number[] {
  return (
    Array.isArray(value) && value.length === count && value.every((item) => Number.isSafeInteger(item) && item >= 0)
  );
}
