/** What every page has: a head, and the three ways in which its data may not be there yet. */
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { ApiError } from '../api/client.ts';
import { Explained } from './toasts.tsx';

interface PageProps {
  readonly title: ReactNode;
  /** For the window; the title itself when that is text. */
  readonly name?: string;
  readonly crumbs?: ReactNode;
  readonly sub?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, name, crumbs, sub, actions, children }: PageProps) {
  const label = name ?? (typeof title === 'string' ? title : 'Signalbox');
  useEffect(() => {
    document.title = label === 'Signalbox' ? label : `${label} · Signalbox`;
  }, [label]);
  return (
    <main className="page" id="main">
      <header className="page-head">
        <div className="titles">
          {crumbs !== undefined && (
            <nav className="crumbs" aria-label="Where you are">
              {crumbs}
            </nav>
          )}
          <h1>{title}</h1>
          {sub !== undefined && <div className="sub">{sub}</div>}
        </div>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </main>
  );
}

interface LoadedProps<T> {
  readonly query: UseQueryResult<T>;
  readonly children: (data: T) => ReactNode;
}

/** Shows data that was read before while it is read again, and also when that fails. */
export function Loaded<T>({ query, children }: LoadedProps<T>) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error !== null) return <Failed error={query.error} />;
  return <div className="loading">Loading …</div>;
}

export function Failed({ error }: { readonly error: unknown }) {
  const isGone = error instanceof ApiError && error.status === 404;
  return (
    <div className={isGone ? 'card' : 'notice bad'} role="alert">
      {isGone ? (
        <div className="empty">
          <Explained error={error} />
        </div>
      ) : (
        <Explained error={error} />
      )}
    </div>
  );
}

export function Card({
  title,
  side,
  children,
  flush = false,
}: {
  readonly title?: ReactNode;
  readonly side?: ReactNode;
  readonly children: ReactNode;
  /** Without space around the content: tables bring their own. */
  readonly flush?: boolean;
}) {
  return (
    <section className="card">
      {title !== undefined && (
        <div className="card-head">
          <h2>{title}</h2>
          {side}
        </div>
      )}
      {flush ? children : <div className="card-body">{children}</div>}
    </section>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}
