/**
 * Places of a command line where the shell evaluates the value of a variable once more, as arithmetic or as a command: `$(( ))`, `(( ))`,
 * `[[ ]]`, array indexes, offsets of `${x:…}`, `let`, `eval`, `test -v` and alike. There a value such as `a[$(command)]` runs the command,
 * although the line only names a variable (I69). References in such places are refused.
 */

/** Brackets that open such a place, and what closes it. In order: longer ones first. */
const PAIRS: readonly (readonly [open: string, close: string, shown: string])[] = [
  ['$((', '))', '$(( ))'],
  ['((', '))', '(( ))'],
  ['$[', ']', '$[ ]'],
  ['[[', ']]', '[[ ]]'],
  ['${', '}', '${ }'],
];

/** The first words of commands that evaluate what they are given, each with the option that makes them do so. */
const COMMANDS: readonly (readonly [command: RegExp, shown: string])[] = [
  [/^let\b/, 'let'],
  [/^eval\b/, 'eval'],
  [/^unset\b/, 'unset'],
  [/^(?:declare|typeset|local|readonly|export)\b.*(?:\s-\w*i|\[)/, 'declare -i'],
  [/^(?:test|\[)\s.*-v\b/, 'test -v'],
  [/^printf\s+-v\b/, 'printf -v'],
  [/^(?:\S*\/)?(?:sh|bash|dash|zsh|ksh)\b.*\s-\w*c\b/, 'sh -c'],
];

/** In `[[ ]]` only these make numbers of their operands. */
const ARITHMETIC = /(?:^|\s)-(?:eq|ne|lt|le|gt|ge|v)\b/;

/** Which place it is between these two texts, if the shell would evaluate what comes there; null when it would not. */
export function evaluatingPlace(before: string, after: string): string | null {
  const open = openPair(before, after);
  if (open !== null) return open;
  const command = lastCommand(before);
  const known = COMMANDS.find(([pattern]) => pattern.test(command));
  if (known !== undefined) return known[1];
  return /(?:^|[\s;&|(])[A-Za-z_]\w*\[[^\]\s]*$/.test(before) ? 'an array index' : null;
}

/**
 * Inputs whose variables (`INPUT_x`) the line names in arithmetic. Only numbers are safe there: whoever runs the line has to see that
 * they are. What `eval` and `sh -c` do with a variable is up to their own text.
 */
export function evaluatedInputs(line: string): string[] {
  const names = new Set<string>();
  for (const match of line.matchAll(/\bINPUT_(\w+)/g)) {
    const before = line.slice(0, match.index).replace(/\$\{?$/, '');
    const place = evaluatingPlace(before, line.slice(match.index));
    if (place !== null && place !== 'eval' && place !== 'sh -c') names.add(match[1] as string);
  }
  return [...names];
}

function openPair(text: string, after: string): string | null {
  const stack: (readonly [string, string, string, number])[] = [];
  for (let at = 0; at < text.length; ) {
    const top = stack.at(-1);
    if (text[at] === '\\') at += 2;
    else if (top !== undefined && text.startsWith(top[1], at)) {
      stack.pop();
      at += top[1].length;
    } else {
      const pair = PAIRS.find(([open]) => text.startsWith(open, at));
      if (pair !== undefined) stack.push([...pair, at]);
      at += pair?.[0].length ?? 1;
    }
  }
  const innermost = stack.filter(([open, close, , at]) => {
    if (open !== '[[') return true;
    const end = after.indexOf(close);
    return ARITHMETIC.test(text.slice(at)) || ARITHMETIC.test(end < 0 ? after : after.slice(0, end));
  });
  return innermost.at(-1)?.[2] ?? null;
}

/** The simple command that is not ended yet, without words that stand before it. */
function lastCommand(text: string): string {
  const last = text.split(/[\n;&|]|\$\(|`/).at(-1) ?? '';
  return last.replace(
    /^[\s(!{]*(?:(?:if|then|else|elif|while|until|do|time|command|builtin|exec|sudo)\s+|\w+=\S*\s+)*/,
    '',
  );
}
