/**
 * A page: one file with its style and its script. Its policy names both by their hashes, so nothing else can run, whatever
 * its text contains (I69).
 */
import { createHash } from 'node:crypto';
import { pagePolicy } from '../headers.ts';
import { STYLE } from './style.ts';

export interface Page {
  readonly html: string;
  readonly policy: string;
}

const MARKUP: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text of any origin, as text. */
export function text(value: string): string {
  return value.replace(/[&<>"']/g, (char) => MARKUP[char] ?? '');
}

const hashOf = (source: string): string => `sha256-${createHash('sha256').update(source).digest('base64')}`;

export function makePage({ title, body, script }: { title: string; body: string; script?: string }): Page {
  const code = script === undefined ? '' : `<script type="module">${script}</script>`;
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${text(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<style>${STYLE}</style></head><body>${body}${code}</body></html>
`;
  return { html, policy: pagePolicy({ style: hashOf(STYLE), script: script === undefined ? null : hashOf(script) }) };
}
