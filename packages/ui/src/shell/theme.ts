/** Light, dark, or as the system is. The choice stays in this browser. */
import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'signalbox.theme';
const listeners = new Set<() => void>();
const dark = matchMedia('(prefers-color-scheme: dark)');

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system';
  }
}

let theme = stored();

export function applyTheme(): void {
  const isDark = theme === 'dark' || (theme === 'system' && dark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

export function setTheme(next: Theme): void {
  theme = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // A browser that stores nothing keeps the choice for as long as the page is open.
  }
  applyTheme();
}

dark.addEventListener('change', applyTheme);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, () => theme);
/** What is on the screen now, for drawings that CSS cannot colour. */
export const useShownTheme = (): string =>
  useSyncExternalStore(subscribe, () => document.documentElement.dataset.theme ?? 'light');
