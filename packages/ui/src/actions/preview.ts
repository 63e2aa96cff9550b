import { useQuery } from '@tanstack/react-query';

interface Preview<T> {
  readonly path: string;
  /** What it depends on: another filter is another preview. */
  readonly body: unknown;
  readonly ask: (signal: AbortSignal) => Promise<T>;
  readonly enabled?: boolean;
}

/** What a change would touch. Asked once, and never after the deed: what was done can often not be done again. */
export const usePreview = <T>({ path, body, ask, enabled = true }: Preview<T>) =>
  useQuery({
    queryKey: ['preview', path, body],
    queryFn: ({ signal }) => ask(signal),
    enabled,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
    gcTime: 0,
  });
