/** Tabs that are in the address. */
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useSearchState } from '../api/search-state.ts';

/** Else the router takes the first tab for the current one whatever the address says. */
export const EXACTLY = { exact: true, includeSearch: true, explicitUndefined: true } as const;

export interface Tab {
  readonly key: string;
  readonly label: string;
  readonly count?: string;
}

/** The first tab is shown unless the address names another. */
export function useTab(tabs: readonly Tab[]): string {
  const [{ tab }] = useSearchState();
  return tabs.find(({ key }) => key === tab)?.key ?? tabs[0]?.key ?? '';
}

export function Tabs({ tabs, label }: { readonly tabs: readonly Tab[]; readonly label: string }) {
  const current = useTab(tabs);
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the tabs are a line that scrolls.
    const chosen = nav.current?.querySelector<HTMLElement>('[aria-current=page]');
    if (nav.current !== null && chosen != null && current !== '')
      nav.current.scrollLeft = chosen.offsetLeft - nav.current.offsetLeft - 40;
  }, [current]);
  return (
    <nav className="tabs" aria-label={label} ref={nav}>
      {tabs.map(({ key, label: text, count }, at) => (
        <Link
          key={key}
          to="."
          search={{ tab: at === 0 ? undefined : key } as never}
          resetScroll={false}
          activeOptions={EXACTLY}
          aria-current={key === current ? 'page' : undefined}
        >
          {text}
          {count !== undefined && <span className="count">{count}</span>}
        </Link>
      ))}
    </nav>
  );
}
