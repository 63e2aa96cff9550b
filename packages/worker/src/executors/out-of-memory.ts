/** Whether the kernel kills processes because memory is short, according to cgroup v2. Without cgroup v2 this is unknown. */
import { readFileSync } from 'node:fs';

let place: string | null | undefined;
let recent: { readonly at: number; readonly count: number | null } = { at: Number.NEGATIVE_INFINITY, count: null };

/** How often it has, in the group of this process and below; null where it is not counted. */
export function oomKills(): number | null {
  place ??= findPlace();
  if (place === null) return null;
  try {
    const [, count] = /^oom_kill (\d+)$/m.exec(readFileSync(place, 'utf8')) ?? [];
    return count === undefined ? null : Number(count);
  } catch {
    return null;
  }
}

/** The count as it was less than a second ago: reading it costs more than a short attempt. */
export function recentOomKills(now: number): number | null {
  if (now - recent.at >= 1_000) recent = { at: now, count: oomKills() };
  return recent.count;
}

function findPlace(): string | null {
  try {
    const [, group] = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? [];
    return group === undefined ? null : `/sys/fs/cgroup${group === '/' ? '' : group}/memory.events`;
  } catch {
    return null;
  }
}

/** Since a count was taken; null where it is not counted. */
export function ranOutSince(before: number | null): boolean | null {
  const now = oomKills();
  return before === null || now === null ? null : now > before;
}

/** For people: what was over its limit, and by how much. */
export function overMemory(what: string, bytes: number, limitBytes: number): string {
  return `${what} used ${inMiB(bytes)} of memory; the limit of the task is ${inMiB(limitBytes)}. It was killed.`;
}

const inMiB = (bytes: number): string => `${Math.round(bytes / (1024 * 1024))} MiB`;
