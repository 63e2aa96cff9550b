/** Lines of JSON on standard error. They never contain payloads or secrets: each logged field is named. */
import { type Logger, pino } from 'pino';
import type { LogLevel } from './config.ts';

export type { Logger } from 'pino';

/** What host and store tell people; both write through the one logger of their thread. */
export type Tell = (
  level: 'info' | 'warn' | 'error',
  message: string,
  details?: Readonly<Record<string, unknown>>,
) => void;

export function makeLogger(level: LogLevel, name: string): Logger {
  return pino({ level, base: { part: name } }, pino.destination({ fd: 2, sync: true }));
}

export function tellWith(logger: Logger): Tell {
  return (level, message, details = {}) => logger[level](details, message);
}
