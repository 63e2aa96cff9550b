/**
 * What the end of a process means. The task's own map comes first, then what the process has said itself, then this:
 *
 * | end | class |
 * | --- | --- |
 * | exit 0 | succeeded |
 * | exit 75 (EX_TEMPFAIL) | transient |
 * | exit 64, 65, 66, 77, 78 (EX_USAGE, EX_DATAERR, EX_NOINPUT, EX_NOPERM, EX_CONFIG), 126, 127 | permanent |
 * | SIGKILL, or exit 137, that nobody here has sent; exit 134 after "heap out of memory" | resource |
 * | any other | transient |
 */
import type { ClassMap, ExitClass } from '@signalbox/protocol';
import { classIn } from '@signalbox/protocol';

export type { ExitClass } from '@signalbox/protocol';

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Whether the kernel has ended something of this machine part for want of memory meanwhile; null where nobody can say. */
  readonly ranOut: boolean | null;
  /** The last part of its stderr. */
  readonly stderr: string;
}

const PERMANENT: ReadonlySet<number> = new Set([64, 65, 66, 77, 78, 126, 127]);
export const KILLED_IN_SHELL = 137;
const HEAP = /JavaScript heap out of memory|Allocation failed - /;

export function exitClass(end: ProcessEnd, own: ClassMap | undefined): ExitClass {
  const { code, signal, ranOut } = end;
  const said = code === null ? null : classIn(own, code);
  if (said !== null) return said;
  if (code === 0) return 'succeeded';
  // Where the kernel can be asked, it decides whether a SIGKILL was for want of memory.
  if (signal === 'SIGKILL' || code === KILLED_IN_SHELL) return ranOut === false ? 'transient' : 'resource';
  if ((signal === 'SIGABRT' || code === 134) && HEAP.test(end.stderr)) return 'resource';
  return code !== null && PERMANENT.has(code) ? 'permanent' : 'transient';
}

export const exitCodeOf = ({ code, signal }: Pick<ProcessEnd, 'code' | 'signal'>): string =>
  signal === null ? `exit:${code ?? 'unknown'}` : `signal:${signal}`;
