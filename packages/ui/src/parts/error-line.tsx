import { uncoloured } from './visible.ts';

/** The first line of an error; the rest on hover. */
export function ErrorLine({ text }: { readonly text: string | null }) {
  if (text === null || text === '') return <span className="faint">no message</span>;
  const shown = uncoloured(text);
  return (
    <span className="mono truncate error-line" title={shown}>
      {shown.split('\n')[0]}
    </span>
  );
}
