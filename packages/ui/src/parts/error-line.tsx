/** The first line of an error; the rest on hover. */
export function ErrorLine({ text }: { readonly text: string | null }) {
  if (text === null || text === '') return <span className="faint">no message</span>;
  return (
    <span className="mono truncate error-line" title={text}>
      {text.split('\n')[0]}
    </span>
  );
}
