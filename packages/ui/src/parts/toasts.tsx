/** Short messages about what was just done. */
import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react';
import { ApiError } from '../api/client.ts';

interface Toast {
  readonly id: number;
  readonly text: ReactNode;
  readonly isBad: boolean;
}

interface Toasts {
  readonly tell: (text: ReactNode) => void;
  readonly fail: (error: unknown) => void;
}

const SHOWN_MS = 6_000;
const ToastContext = createContext<Toasts>({ tell: () => undefined, fail: () => undefined });
export const useToasts = (): Toasts => useContext(ToastContext);

export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const nextId = useRef(0);
  const add = useCallback((text: ReactNode, isBad: boolean) => {
    const id = nextId.current++;
    setToasts((known) => [...known.slice(-3), { id, text, isBad }]);
    setTimeout(() => setToasts((known) => known.filter((toast) => toast.id !== id)), SHOWN_MS);
  }, []);
  const value = useMemo(
    () => ({
      tell: (text: ReactNode) => add(text, false),
      fail: (error: unknown) => add(<Explained error={error} />, true),
    }),
    [add],
  );
  return (
    <ToastContext value={value}>
      {children}
      <div className="toasts" role="status">
        {toasts.map(({ id, text, isBad }) => (
          <div key={id} className={isBad ? 'toast bad' : 'toast'}>
            {text}
          </div>
        ))}
      </div>
    </ToastContext>
  );
}

/** What went wrong and what to do, in the server's words. */
export function Explained({ error }: { readonly error: unknown }) {
  if (!(error instanceof ApiError)) return <>{error instanceof Error ? error.message : String(error)}</>;
  return (
    <div>
      <strong>{error.message}</strong>
      {error.problems.map(({ path, message }) => (
        <div key={`${path} ${message}`} className="small">
          {path === '' ? message : `${path} ${message}`}
        </div>
      ))}
      {error.remedy !== '' && <div className="small soft">{error.remedy}</div>}
    </div>
  );
}
