/** A button that opens a list of further actions. */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Icon } from '../shell/icons.tsx';

interface MenuItem {
  readonly label: string;
  readonly disabled?: boolean;
  readonly title?: string | undefined;
  readonly isDanger?: boolean;
  readonly onChoose: () => void;
}

export function Menu({
  label,
  items,
  children,
}: {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly children?: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    root.current?.querySelector<HTMLButtonElement>('.menu-list button:not(:disabled)')?.focus();
    const close = (event: Event) => {
      if (!(event.target instanceof Node) || !root.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener('pointerdown', close);
    return () => document.removeEventListener('pointerdown', close);
  }, [isOpen]);
  const move = (steps: number) => {
    const buttons = [...(root.current?.querySelectorAll<HTMLButtonElement>('.menu-list button:not(:disabled)') ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    buttons[(at + steps + buttons.length) % Math.max(1, buttons.length)]?.focus();
  };
  return (
    <div
      className="menu"
      ref={root}
      onKeyDown={(event) => {
        if (!isOpen) return;
        if (event.key === 'Escape') {
          setOpen(false);
          root.current?.querySelector('button')?.focus();
        } else if (event.key === 'ArrowDown') move(1);
        else if (event.key === 'ArrowUp') move(-1);
        else return;
        event.preventDefault();
      }}
    >
      <button
        type="button"
        className="button"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={label}
        onClick={() => setOpen(!isOpen)}
      >
        {children ?? <Icon name="more" />}
      </button>
      {isOpen && (
        <div className="menu-list" role="menu">
          {items.map(({ label: text, disabled = false, title, isDanger = false, onChoose }) => (
            <button
              key={text}
              type="button"
              role="menuitem"
              disabled={disabled}
              title={title}
              className={isDanger ? 'tone-bad' : ''}
              onClick={() => {
                setOpen(false);
                onChoose();
              }}
            >
              {text}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
