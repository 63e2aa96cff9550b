/** Code cut into pieces by what they are, so that strings, comments and keywords can be told apart. Knows no grammar: a wrong guess only costs a colour. */
type Kind = 'plain' | 'comment' | 'string' | 'number' | 'keyword' | 'key';

export interface CodePiece {
  readonly text: string;
  readonly kind: Kind;
}

export type Language = 'json' | 'script' | 'hash';

const KEYWORDS = new Set(
  (
    'abstract as async await break case catch class const continue def default del do elif else enum except export extends ' +
    'false finally for from function if implements import in instanceof interface is lambda let new None not null of or and pass ' +
    'raise readonly return satisfies static switch this throw True False true try type typeof undefined var void while with yield'
  ).split(' '),
);

const STRINGS = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;
const NUMBERS = String.raw`(?<![\w.$])-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b`;
const WORDS = String.raw`[A-Za-z_$][\w$]*`;

const SYNTAX: Readonly<Record<Language, RegExp>> = {
  json: new RegExp(`(?<string>"(?:[^"\\\\\\n]|\\\\.)*")|(?<number>${NUMBERS})|(?<word>${WORDS})`, 'g'),
  script: new RegExp(
    `(?<comment>//[^\\n]*|/\\*[\\s\\S]*?\\*/)|(?<string>${STRINGS}|\`(?:[^\`\\\\]|\\\\[\\s\\S])*\`)|(?<number>${NUMBERS})|(?<word>${WORDS})`,
    'g',
  ),
  // Python, YAML and shells: a comment begins with a hash.
  hash: new RegExp(
    `(?<comment>(?<=^|\\s)#[^\\n]*)|(?<string>${STRINGS})|(?<number>${NUMBERS})|(?<word>${WORDS})`,
    'gm',
  ),
};

export function languageOf(file: string): Language {
  if (file.endsWith('.json')) return 'json';
  return /\.(?:py|ya?ml|sh|toml)$/.test(file) ? 'hash' : 'script';
}

export function highlight(text: string, language: Language): CodePiece[] {
  const pieces: CodePiece[] = [];
  const add = (piece: string, kind: Kind) => {
    const last = pieces.at(-1);
    if (piece === '') return;
    if (last?.kind === kind) pieces[pieces.length - 1] = { text: last.text + piece, kind };
    else pieces.push({ text: piece, kind });
  };
  let at = 0;
  for (const match of text.matchAll(SYNTAX[language])) {
    add(text.slice(at, match.index), 'plain');
    at = match.index + match[0].length;
    add(match[0], kindOf(match, text, at));
  }
  add(text.slice(at), 'plain');
  return pieces;
}

function kindOf({ groups = {} }: RegExpMatchArray, text: string, end: number): Kind {
  if (groups.comment !== undefined) return 'comment';
  if (groups.number !== undefined) return 'number';
  const isKey = /^\s*:(?!:)/.test(text.slice(end, end + 8));
  if (groups.string !== undefined) return isKey ? 'key' : 'string';
  return KEYWORDS.has(groups.word ?? '') ? 'keyword' : isKey ? 'key' : 'plain';
}
