/** Runs counted by when they were created. */
export interface Bin {
  ok: number;
  bad: number;
  idle: number;
  busy: number;
}

interface Counted {
  readonly createdAt: string;
  readonly outcome: string | null;
}

const SHORTEST_MS = 60_000;

export function binRuns(runs: readonly Counted[], now: number, binCount: number) {
  const oldest = Math.min(now - SHORTEST_MS, ...runs.map(({ createdAt }) => Date.parse(createdAt)));
  const stepMs = (now - oldest) / binCount;
  const bins: Bin[] = Array.from({ length: binCount }, () => ({ ok: 0, bad: 0, idle: 0, busy: 0 }));
  for (const { createdAt, outcome } of runs) {
    const at = Math.min(binCount - 1, Math.max(0, Math.floor((Date.parse(createdAt) - oldest) / stepMs)));
    const bin = bins[at];
    if (bin === undefined) continue;
    if (outcome === 'succeeded') bin.ok += 1;
    else if (outcome === 'failed') bin.bad += 1;
    else if (outcome === 'cancelled') bin.idle += 1;
    else bin.busy += 1;
  }
  return { bins, fromMs: oldest, stepMs };
}
