/** Lines of JSON on standard error: the default log of a worker. */
import type { Log } from '@signalbox/sdk';

export function jsonLog(): Log {
  const write = (level: string, message: string, fields: object = {}): void => {
    process.stderr.write(`${JSON.stringify({ ...fields, level, at: new Date().toISOString(), message })}\n`);
  };
  return {
    debug: () => {},
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
  };
}

/** A log that adds the same fields to each line. What user code hands in can't break the worker. */
export function withFields(log: Log, added: object): Log {
  const guarded = (level: keyof Log) => (message: string, fields?: object) => {
    try {
      log[level](String(message), { ...fields, ...added });
    } catch {
      // A line that can't be written is lost; the attempt that wrote it goes on.
    }
  };
  return { debug: guarded('debug'), info: guarded('info'), warn: guarded('warn'), error: guarded('error') };
}
