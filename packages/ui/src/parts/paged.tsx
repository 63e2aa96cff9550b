/** A list that is read page by page: what is there of it, and a button for more. */
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failed } from './page.tsx';

interface PageOf<T> {
  readonly items: readonly T[];
}

interface PagedProps<T> {
  readonly query: UseInfiniteQueryResult<InfiniteData<PageOf<T>>>;
  /** Those of a page that are shown; all unless told. */
  readonly only?: (item: T) => boolean;
  readonly empty: ReactNode;
  /** On the button. */
  readonly more: string;
  readonly children: (items: readonly T[]) => ReactNode;
}

export function Paged<T>({ query, only = () => true, empty, more, children }: PagedProps<T>) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  if (data === undefined) return error === null ? <div className="loading">Loading …</div> : <Failed error={error} />;
  const items = data.pages.flatMap((page) => page.items).filter(only);
  return (
    <>
      {items.length === 0 ? empty : children(items)}
      {hasNextPage && (
        <div className="card-foot">
          <button
            type="button"
            className="button small"
            disabled={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            {more}
          </button>
        </div>
      )}
    </>
  );
}
