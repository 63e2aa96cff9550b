/**
 * Output of a process as lines of `name=value`, for shells: `echo "rows=$count" >> "$SIGNALBOX_OUTPUT"`. Values are text. A value
 * with line breaks stands between two markers, as in other systems: `name<<END`, its lines, `END`.
 *
 * No JSON text begins with a name and `=` or `<<`, so the first line says which of the two forms a file has.
 */
const LINE = /^([A-Za-z_][A-Za-z0-9_-]{0,199})(=|<<)(.*)$/;

export const isLines = (text: string): boolean => LINE.test(text.split(/\r?\n/, 1)[0] ?? '');

/** An object of texts. Throws an error that names the line. */
export function parseLines(text: string): Record<string, string> {
  const lines = text.split(/\r?\n/);
  const values = new Map<string, string>();
  for (let no = 0; no < lines.length; no++) {
    const line = lines[no] ?? '';
    if (line.trim() === '') continue;
    const [, name, sign, rest = ''] = LINE.exec(line) ?? [];
    if (name === undefined) throw new Error(`line ${no + 1} is not name=value`);
    if (values.has(name)) throw new Error(`line ${no + 1} gives ${name} a second time`);
    if (sign === '=') {
      values.set(name, rest);
      continue;
    }
    const end = lines.indexOf(rest, no + 1);
    if (rest === '' || end === -1) throw new Error(`line ${no + 1} opens ${name} and no later line is "${rest}"`);
    values.set(name, lines.slice(no + 1, end).join('\n'));
    no = end;
  }
  return Object.fromEntries(values);
}
