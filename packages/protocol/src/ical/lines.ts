/** The lines of an iCal file (RFC 5545): folded ones joined, each with its name, its parameters and its place. */

export interface IcalLine {
  /** Of the file as it was written, from 1. */
  readonly line: number;
  readonly name: string;
  readonly params: ReadonlyMap<string, string>;
  readonly value: string;
}

export class IcalFault extends Error {
  readonly line: number;
  readonly remedy: string;

  constructor(line: number, message: string, remedy: string) {
    super(message);
    this.line = line;
    this.remedy = remedy;
  }
}

const LINE = /^([A-Za-z0-9-]+)((?:;[A-Za-z0-9-]+=(?:"[^"]*"|[^";:]*))*):(.*)$/s;
const PARAM = /;([A-Za-z0-9-]+)=(?:"([^"]*)"|([^";:]*))/g;

export function icalLines(text: string): IcalLine[] {
  const lines: IcalLine[] = [];
  let [joined, startedAt] = ['', 0];
  const take = () => {
    if (joined.trim() === '') return;
    const found = LINE.exec(joined);
    if (found === null) {
      throw new IcalFault(
        startedAt,
        `${JSON.stringify(joined.slice(0, 60))} is not a line of iCal`,
        'Export the calendar again.',
      );
    }
    const [, name = '', written = '', value = ''] = found;
    const params = new Map<string, string>();
    for (const [, key = '', quoted, plain] of written.matchAll(PARAM))
      params.set(key.toUpperCase(), quoted ?? plain ?? '');
    lines.push({ line: startedAt, name: name.toUpperCase(), params, value });
  };
  for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) {
    if (/^[ \t]/.test(line)) joined += line.slice(1);
    else {
      take();
      [joined, startedAt] = [line, index + 1];
    }
  }
  take();
  return lines;
}
