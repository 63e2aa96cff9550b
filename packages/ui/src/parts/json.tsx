/** A value as indented JSON, always as text. */
const MOST_CHARS = 200_000;

export function Json({ value }: { readonly value: unknown }) {
  const text = JSON.stringify(value, null, 2) ?? 'nothing';
  const isCut = text.length > MOST_CHARS;
  return (
    <pre className="block" tabIndex={0}>
      {isCut ? `${text.slice(0, MOST_CHARS)}\n… ${text.length - MOST_CHARS} more characters` : text}
    </pre>
  );
}
