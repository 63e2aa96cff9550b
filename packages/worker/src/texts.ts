/** The texts of a task with their references filled in. Each value is inserted as data, whatever it contains (I69). */
import {
  asText,
  describeInput,
  fillTemplate,
  findInput,
  type InputRoots,
  missingIn,
  type Template,
} from '@signalbox/protocol';
import { PermanentError } from '@signalbox/sdk';
import { NO_SECRETS, type Work } from './work.ts';

export type TextPlace = 'argument' | 'variable' | 'url' | 'header' | 'body';

/** Throws a `PermanentError` for a reference that leads nowhere, or a value that can't be put there: another attempt would find the same. */
export function filled(template: Template, place: TextPlace, work: Work | null, roots: InputRoots): unknown {
  const secrets = work?.secrets ?? NO_SECRETS;
  return fillTemplate(
    template,
    (source) => {
      if (source.from === 'secret') return secrets.get(source.name) ?? '';
      const missing = missingIn(source, roots);
      if (missing === null) return findInput(source, roots);
      const { reference, cause } = describeInput(missing);
      throw new PermanentError(`${reference} does not exist. ${cause}`);
    },
    place === 'url' ? urlPart : asText,
  );
}

/** The same as text that can stand in its place. */
export function filledText(template: Template, place: TextPlace, work: Work | null, roots: InputRoots): string {
  // One reference alone is a value of any kind; within a text it would have been made text already.
  const value = filled('source' in template ? { text: [template.source] } : template, place, work, roots);
  const text = asText(value);
  if (text.includes('\0'))
    throw new PermanentError(`A value contains a NUL character, which is not allowed in ${place}.`);
  if (place === 'header' && /[\r\n]/.test(text))
    throw new PermanentError('A value contains a line break, which is not allowed in a header.');
  return text;
}

/** It can't end the part of the address that it stands in, nor lead out of it. */
function urlPart(value: unknown): string {
  const text = asText(value);
  if (text === '.' || text === '..') throw new PermanentError(`"${text}" cannot be part of a URL.`);
  return encodeURIComponent(Buffer.from(text).toString());
}
