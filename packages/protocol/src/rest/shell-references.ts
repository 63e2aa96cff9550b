/**
 * References in a command line. They never become a part of it: each is a variable of the process, and the line names the
 * variable. Whatever its value is, the shell reads it as a value and not as a command (I69).
 */
import { EMBEDDED } from './references.ts';
import { evaluatingPlace } from './shell-evaluation.ts';

export const REFERENCE_VARIABLE = 'SIGNALBOX_REF_';

type ShellLine =
  | { readonly ok: true; readonly line: string; readonly references: readonly string[] }
  | { readonly ok: false; readonly message: string };

/** Quoted where the line has no quotes around it, so that a value with spaces stays one word. */
export function readShellLine(text: string): ShellLine {
  const references: string[] = [];
  let line = '';
  let from = 0;
  let quote: Quote = '';
  for (const match of text.matchAll(EMBEDDED)) {
    const literal = text.slice(from, match.index);
    quote = quoteAfter(literal, quote);
    if (quote === "'") {
      return {
        ok: false,
        message: `${match[0]} stands in single quotes, where the shell takes nothing but plain text: use double quotes`,
      };
    }
    if (quote === '\\') return { ok: false, message: `${match[0]} stands behind a backslash: take the backslash away` };
    const place = evaluatingPlace(line + literal, text.slice(match.index + match[0].length));
    if (place !== null) {
      return {
        ok: false,
        message: `${match[0]} stands in ${place}, where the shell evaluates values and would run a command in one: check it first, such as with case "$x" in *[!0-9]*) exit 1;; esac, and use the variable`,
      };
    }
    const variable = `\${${REFERENCE_VARIABLE}${references.length}}`;
    line += literal + (quote === '"' ? variable : `"${variable}"`);
    references.push(match[0]);
    from = match.index + match[0].length;
  }
  return { ok: true, line: line + text.slice(from), references };
}

type Quote = '' | '"' | "'" | '\\';

/** In which quotes a line stands after this piece of it. */
function quoteAfter(piece: string, before: Quote): Quote {
  let quote = before;
  for (let at = 0; at < piece.length; at++) {
    const char = piece[at];
    if (quote === "'") {
      if (char === "'") quote = '';
    } else if (char === '\\') {
      at += 1;
      if (at === piece.length) return '\\';
    } else if (char === '"') quote = quote === '"' ? '' : '"';
    else if (char === "'" && quote === '') quote = "'";
  }
  return quote;
}
