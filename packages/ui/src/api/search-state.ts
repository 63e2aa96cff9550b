/** A part of what is shown that is in the address, so that a link shows the same. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

type SearchState = Readonly<Record<string, string | undefined>>;

/** What the address says, and a way to change some of it. Changes replace the entry in the history unless told. */
export function useSearchState(): [SearchState, (change: SearchState, push?: boolean) => void] {
  const search = useSearch({ strict: false }) as SearchState;
  const navigate = useNavigate();
  const change = useCallback(
    (next: SearchState, push = false) =>
      void navigate({
        to: '.',
        search: ((known: SearchState) => ({ ...known, ...next })) as never,
        replace: !push,
        resetScroll: false,
      }),
    [navigate],
  );
  return [search, change];
}
