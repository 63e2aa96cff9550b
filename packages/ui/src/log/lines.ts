/** The lines of a log as they come: kept as they were sent, read when they are shown. */
export interface Line {
  readonly no: number;
  readonly at: string;
  readonly stream: 'stdout' | 'stderr' | 'log' | 'system';
  readonly text: string;
  /** In the log of a whole run. */
  readonly task?: string;
  readonly attempt?: number;
}

/** What user code said through its context is JSON; people want its words. */
export function wordsOf({ stream, text }: Line): { readonly level: string | null; readonly text: string } {
  if (stream !== 'log') return { level: null, text };
  try {
    const { level, message, fields } = JSON.parse(text) as { level?: unknown; message?: unknown; fields?: object };
    const more = fields === undefined || Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
    return { level: String(level), text: `${String(message)}${more}` };
  } catch {
    return { level: null, text };
  }
}

const ERROR_WORDS = /\b(error|exception|fatal|panic|traceback|failed)\b/i;

/** Whether somebody who looks for the cause would stop here. */
export function looksBad(line: Line): boolean {
  const { level, text } = wordsOf(line);
  if (level !== null) return level === 'error' || level === 'fatal';
  return line.stream === 'stderr' ? ERROR_WORDS.test(text) : ERROR_WORDS.test(text) && line.stream === 'stdout';
}

export function findFrom(
  lines: readonly Line[],
  from: number,
  step: 1 | -1,
  matches: (line: Line) => boolean,
): number | null {
  for (let seen = 0, at = from; seen < lines.length; seen++, at += step) {
    const place = ((at % lines.length) + lines.length) % lines.length;
    if (matches(lines[place] as Line)) return place;
  }
  return null;
}
