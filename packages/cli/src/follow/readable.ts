/** Logs and errors of tasks, made readable for people. Programs get the full text with --json. */
import type { LogLine } from '@signalbox/sdk';

/** What a function said through its context is JSON in the log: level and sentence first, then what else it gave. */
export function readableLine({ stream, text }: Pick<LogLine, 'stream' | 'text'>): string {
  if (stream !== 'log') return text;
  try {
    const { level, message, ...fields } = JSON.parse(text) as Record<string, unknown>;
    if (typeof level !== 'string' || typeof message !== 'string') return text;
    const rest = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
    return `${level.padEnd(5)} ${message}${rest}`;
  } catch {
    return text;
  }
}

/** Frames of Node and of the worker say nothing about the user's code; nor does where a bundle is cached. */
export function readableError(error: string): string[] {
  return error
    .split('\n')
    .filter((line) => !/^\s+at (?:.*[( ])?(?:node:|\S*\/(?:packages|@signalbox)\/worker\/)/.test(line))
    .map((line) => line.replace(/(?:file:\/\/)?\/\S*\/bundles\/[0-9a-f]{64}\//g, ''));
}
