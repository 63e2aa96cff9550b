/**
 * The lines of a log. They come in batches of one long text with the places where its lines end, and are cut out when they are looked
 * at: a million lines as a million objects would have the browser collect garbage for seconds.
 */
export const STREAMS = ['stdout', 'stderr', 'log', 'system'] as const;

export interface Line {
  readonly no: number;
  /** In milliseconds. */
  readonly at: number;
  readonly stream: (typeof STREAMS)[number];
  readonly text: string;
  /** In the log of a whole run. */
  readonly task?: string;
}

/** As the server sends it. */
export type SentLine = Omit<Line, 'at'> & { readonly at: string };

export interface LineBatch {
  readonly text: string;
  /** Where each line ends in `text`. */
  readonly ends: Uint32Array;
  readonly nos: Uint32Array;
  readonly ats: Float64Array;
  /** Places in `STREAMS`. */
  readonly streams: Uint8Array;
  /** Places in `names`, from 1 on; 0 for none. */
  readonly tasks: Uint32Array;
  /** Of the tasks in this batch. */
  readonly names: readonly string[];
  /** The place of the first line that looks bad; null where none does. */
  readonly firstBad: number | null;
}

export function batchOf(lines: readonly SentLine[]): LineBatch {
  const { length } = lines;
  const batch = {
    ends: new Uint32Array(length),
    nos: new Uint32Array(length),
    ats: new Float64Array(length),
    streams: new Uint8Array(length),
    tasks: new Uint32Array(length),
  };
  const places = new Map<string, number>();
  let end = 0;
  lines.forEach(({ no, at, stream, text, task }, i) => {
    end += text.length;
    batch.ends[i] = end;
    batch.nos[i] = no;
    batch.ats[i] = Date.parse(at);
    batch.streams[i] = Math.max(0, STREAMS.indexOf(stream));
    if (task === undefined) return;
    const place = places.get(task) ?? places.size + 1;
    places.set(task, place);
    batch.tasks[i] = place;
  });
  const firstBad = lines.findIndex(looksBad);
  return {
    ...batch,
    text: lines.map(({ text }) => text).join(''),
    names: [...places.keys()],
    firstBad: firstBad < 0 ? null : firstBad,
  };
}

/** What reads lines needs of a list of them. */
export interface Lines {
  readonly length: number;
  at(index: number): Line | undefined;
}

export class LineList implements Lines {
  readonly #batches: LineBatch[] = [];
  /** The index of the first line of each batch. */
  readonly #firsts: number[] = [];
  length = 0;
  /** The first line that looks bad. */
  firstBad: number | null = null;

  push(batch: LineBatch): void {
    if (this.firstBad === null && batch.firstBad !== null) this.firstBad = this.length + batch.firstBad;
    this.#batches.push(batch);
    this.#firsts.push(this.length);
    this.length += batch.ends.length;
  }

  at(index: number): Line | undefined {
    if (index < 0 || index >= this.length) return undefined;
    const no = lastNotAfter(this.#firsts, index);
    const { text, ends, nos, ats, streams, tasks, names } = this.#batches[no] as LineBatch;
    const i = index - (this.#firsts[no] as number);
    const task = names[(tasks[i] as number) - 1];
    return {
      no: nos[i] as number,
      at: ats[i] as number,
      stream: STREAMS[streams[i] as number] ?? 'stdout',
      text: text.slice(i === 0 ? 0 : ends[i - 1], ends[i]),
      ...(task === undefined ? {} : { task }),
    };
  }
}

/** The place of the last of these growing numbers that is not above `value`; 0 where all are. */
export function lastNotAfter(numbers: readonly number[], value: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] as number) <= value) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** What user code said through its context is JSON; people want its words. */
export function wordsOf({ stream, text }: Pick<Line, 'stream' | 'text'>): {
  readonly level: string | null;
  readonly text: string;
} {
  if (stream !== 'log') return { level: null, text };
  try {
    const { level, message, fields } = JSON.parse(text) as { level?: unknown; message?: unknown; fields?: object };
    const more = fields === undefined || Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
    return { level: String(level), text: `${String(message)}${more}` };
  } catch {
    return { level: null, text };
  }
}

const BAD_LEVELS = /error|fatal/;
const ERROR_WORDS = /\b(error|exception|fatal|panic|traceback|failed)\b/i;

/** Whether somebody who looks for the cause would stop here. */
export function looksBad(line: Pick<Line, 'stream' | 'text'>): boolean {
  // Most lines are not: those are not parsed.
  if (line.stream === 'log' && !BAD_LEVELS.test(line.text)) return false;
  const { level, text } = wordsOf(line);
  if (level !== null) return level === 'error' || level === 'fatal';
  return line.stream === 'stderr' ? ERROR_WORDS.test(text) : ERROR_WORDS.test(text) && line.stream === 'stdout';
}

export function findFrom(lines: Lines, from: number, step: 1 | -1, matches: (line: Line) => boolean): number | null {
  for (let seen = 0, at = from; seen < lines.length; seen++, at += step) {
    const place = ((at % lines.length) + lines.length) % lines.length;
    if (matches(lines.at(place) as Line)) return place;
  }
  return null;
}
