/** Keys that work everywhere, unless somebody is writing. */
import { useEffect, useRef } from 'react';

export function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** `mod+k` for Ctrl or Cmd; a single character else. The handler may be a new one with each render. */
export function useKey(key: string, handler: (event: KeyboardEvent) => void): void {
  const latest = useRef(handler);
  latest.current = handler;
  useEffect(() => {
    const wantsMod = key.startsWith('mod+');
    const name = wantsMod ? key.slice(4) : key;
    const listen = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) !== wantsMod || event.altKey || event.key !== name) return;
      if (!wantsMod && (isWriting(event.target) || document.querySelector('dialog[open]') !== null)) return;
      event.preventDefault();
      latest.current(event);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [key]);
}
