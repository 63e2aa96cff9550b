/** Values and code to read and to copy, always as text. */
import { useMemo } from 'react';
import { Icon } from '../shell/icons.tsx';
import { highlight, type Language } from './highlight.ts';
import { useToasts } from './toasts.tsx';
import { visible } from './visible.ts';

const MOST_CHARS = 200_000;
/** Beyond this, thousands of coloured pieces would make the page slow. */
const MOST_COLOURED = 40_000;

export function Json({ value }: { readonly value: unknown }) {
  const text = JSON.stringify(value, null, 2) ?? 'nothing';
  const isCut = text.length > MOST_CHARS;
  const shown = isCut ? `${text.slice(0, MOST_CHARS)}\n… ${text.length - MOST_CHARS} more characters` : text;
  return <Block text={shown} copied={text} language="json" />;
}

interface BlockProps {
  readonly text: string;
  readonly language: Language;
  /** What the button copies; the text unless told. */
  readonly copied?: string;
  readonly className?: string;
}

/** Text as it is, with a button to copy it. */
export function Block({ text, language, copied = text, className = 'block' }: BlockProps) {
  return (
    <div className="copyable">
      <pre className={className} tabIndex={0}>
        <CodeText text={text} language={language} />
      </pre>
      <Copy text={copied} />
    </div>
  );
}

export function Copy({ text }: { readonly text: string }) {
  const { tell, fail } = useToasts();
  // Pages that came without TLS from another machine have no clipboard.
  if (navigator.clipboard === undefined) return null;
  return (
    <button
      type="button"
      className="button quiet icon small copy"
      title="Copy"
      aria-label="Copy"
      onClick={() => void navigator.clipboard.writeText(text).then(() => tell('Copied.'), fail)}
    >
      <Icon name="copy" size={14} />
    </button>
  );
}

export function CodeText({ text, language }: { readonly text: string; readonly language: Language }) {
  const shown = useMemo(() => visible(text), [text]);
  const pieces = useMemo(() => (shown.length > MOST_COLOURED ? null : highlight(shown, language)), [shown, language]);
  if (pieces === null) return shown;
  return pieces.map(({ text: piece, kind }, at) =>
    kind === 'plain' ? (
      piece
    ) : (
      // Pieces of a text never move.
      <span key={`${at} ${piece.length}`} className={`code-${kind}`}>
        {piece}
      </span>
    ),
  );
}

/** Lines break between words, not within `--flag`. */
const words = (command: string) =>
  command.split(' ').flatMap((word, at) => [
    at === 0 ? '' : ' ',
    // Words of a text never move.
    <span key={`${at} ${word}`} className="word">
      {word}
    </span>,
  ]);

/** A command to type. */
export function Command({ children }: { readonly children: string }) {
  return (
    <span className="command">
      <code>{words(visible(children))}</code>
      <Copy text={children} />
    </span>
  );
}

/** What somebody has to copy, because it is not shown again. */
export function ToCopy({ text }: { readonly text: string }) {
  return (
    <div className="to-copy">
      <pre className="block">{text}</pre>
      <Copy text={text} />
    </div>
  );
}
