/** A modal dialog of the browser: it keeps the focus inside, closes with Escape and gives the focus back. */
import { type ReactNode, useEffect, useRef } from 'react';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly foot?: ReactNode;
  readonly wide?: boolean;
  readonly className?: string;
  /** Without the line that shows the title. */
  readonly bare?: boolean;
}

export function Dialog({ title, onClose, children, foot, wide = false, className = '', bare = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-label={title}
      className={`${wide ? 'wide' : ''} ${className}`}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      {bare ? (
        children
      ) : (
        <>
          <div className="dialog-head">
            <h2>{title}</h2>
            <button type="button" className="button quiet icon small" aria-label="Close" onClick={onClose}>
              ✕
            </button>
          </div>
          <div className="dialog-body">{children}</div>
          {foot !== undefined && <div className="dialog-foot">{foot}</div>}
        </>
      )}
    </dialog>
  );
}
