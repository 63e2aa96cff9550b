/** The colours of the page, for what is drawn on a canvas. */
import { useMemo } from 'react';
import type { Tone } from '../parts/states.ts';
import { useShownTheme } from '../shell/theme.ts';
import type { Palette } from './paint.ts';

const TONES: readonly Tone[] = ['ok', 'bad', 'busy', 'warn', 'idle', 'odd'];

function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(name).trim();
  const tones = Object.fromEntries(
    TONES.map((tone) => [tone, { ink: of(`--${tone}`), fill: of(`--${tone}-fill`), soft: of(`--${tone}-soft`) }]),
  ) as Palette['tones'];
  return {
    surface: of('--surface'),
    ink: of('--ink'),
    faint: of('--ink-3'),
    line: of('--edge'),
    accent: of('--accent'),
    font: of('--font'),
    tones,
  };
}

/** Read again when the theme changes. */
export function usePalette(): Palette {
  const theme = useShownTheme();
  // The style sheet answers by the theme that the page has now.
  return useMemo(() => (theme === '' ? readPalette() : readPalette()), [theme]);
}
