/** A part of what is shown that is in the address, so that a link shows the same. */
import { useMatch, useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

type SearchState = Readonly<Record<string, string | undefined>>;

/** What the address says, and a way to change some of it. Changes replace the entry in the history unless told. */
export function useSearchState(): [SearchState, (change: SearchState, push?: boolean) => void] {
  const search = useSearch({ strict: false }) as SearchState;
  const navigate = useNavigate();
  const router = useRouter();
  const page = useMatch({ strict: false, select: ({ pathname }) => pathname });
  const change = useCallback(
    (next: SearchState, push = false) => {
      // Somebody is on the way to another page, which this one would write its own state into.
      if (page !== undefined && pathOf(router.latestLocation.pathname) !== pathOf(page)) return;
      void navigate({
        to: '.',
        search: ((known: SearchState) => ({ ...known, ...next })) as never,
        replace: !push,
        resetScroll: false,
      });
    },
    [navigate, router, page],
  );
  return [search, change];
}

const pathOf = (pathname: string): string => decodeURI(pathname).replace(/\/$/, '');
