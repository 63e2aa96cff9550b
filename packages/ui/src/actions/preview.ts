import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

interface Preview<T> {
  readonly path: string;
  /** What it depends on: another filter is another preview. */
  readonly body: unknown;
  readonly ask: (signal: AbortSignal) => Promise<T>;
  readonly enabled?: boolean;
}

let openedDialogs = 0;

/** What a change would touch. Asked once, and never after the deed: what was done can often not be done again. */
export function usePreview<T>({ path, body, ask, enabled = true }: Preview<T>) {
  // Each dialog asks anew, so the key names the dialog. The cache must keep the answer: one that it drops at once (`gcTime: 0`) is
  // asked for again when the dialog renders late, which on a busy machine is after the deed.
  const [dialog] = useState(() => ++openedDialogs);
  return useQuery({
    queryKey: ['preview', dialog, path, body],
    queryFn: ({ signal }) => ask(signal),
    enabled,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
    gcTime: 60_000,
  });
}
